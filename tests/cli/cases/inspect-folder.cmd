mkdir folder; "$CLI" inspect folder
