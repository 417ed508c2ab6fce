declare module 'pgpass' {
  /** Looks in the password file of PostgreSQL for host, port, database and user of a connection. */
  function pgpass(connection: object, done: (password: string | undefined) => void): void;
  export = pgpass;
}
