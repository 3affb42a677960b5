"""What the end-to-end and fault tests share: a PostgreSQL, the service, clients, the log's laws."""
