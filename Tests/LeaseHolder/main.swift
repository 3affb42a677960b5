import EmbeddedPostgres
import Glibc

// A second process for the tests: joins, says where the database is, and holds its share
// until its standard input ends.
do {
  let lease = try EmbeddedPostgres.join(dataDirectory: CommandLine.arguments[1])
  print(lease.databaseURL)
  fflush(nil)
  while readLine() != nil {}
  try lease.release()
} catch {
  print("error: \(error)")
}
