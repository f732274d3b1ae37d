// Where the files are that are not code. Only this differs between a checkout and a package.

export interface Home {
  /** Holds schema.sql, migrations/ and examples/. */
  readonly dir: string
  /** The file that the thread of an embedded database runs: worker/…/thread-libsql. */
  readonly databaseThread: URL
  /**
   * The console's page. A checkout builds it into `dir`; a package brings it along. The folder can
   * be named before it is filled.
   */
  console(dir: string): { dir: string; ready: Promise<void> }
}
