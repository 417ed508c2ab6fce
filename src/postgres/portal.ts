import type { Client, Submittable } from 'pg';

/** A column of a result: its name, and the number of its type. */
export interface PortalField {
  readonly name: string;
  readonly dataTypeID: number;
}

/** A row of a result: the texts of its values. */
export type PortalRow = readonly (string | null)[];

/** What the driver's types leave out of its connection. */
interface Protocol {
  parse(query: { text: string; name: string; types: readonly number[] }): void;
  bind(config: { values: readonly (string | null)[] }): void;
  describe(what: { type: 'P'; name: string }): void;
  execute(config: { rows: number }): void;
  flush(): void;
  sync(): void;
  on(event: 'noData', listener: () => void): void;
  off(event: 'noData', listener: () => void): void;
}

/**
 * One statement of which rows are asked for as they are needed, by the extended protocol: it takes no second statement, and
 * says what a statement returns before it runs. To be used within a transaction; nothing else can use the connection until
 * it is closed.
 */
export class Portal {
  /** Columns; undefined for a statement that returns no rows: it has not run. */
  fields: readonly PortalField[] | undefined;
  private connection: Protocol | undefined;
  private rows: PortalRow[] = [];
  private isDone = false;
  private settle: { resolve: () => void; reject: (cause: Error) => void } | undefined;
  private fault: Error | undefined;

  private constructor(
    private readonly text: string,
    private readonly values: readonly (string | null)[],
    private readonly types: readonly number[],
  ) {}

  /**
   * Prepares a statement. `types` are numbers of types of the values; the database finds those that are 0, or not given.
   * Rejects with what the driver gives.
   */
  static async open(
    client: Client,
    text: string,
    values: readonly (string | null)[],
    types: readonly number[] = [],
  ): Promise<Portal> {
    const portal = new Portal(text, values, types);
    const described = portal.waiting();
    client.query(portal.query() as unknown as Submittable);
    await described;
    return portal;
  }

  /** The next rows, `most` of them at most; none at the end. Rejects with what the driver gives. */
  async next(most: number): Promise<readonly PortalRow[]> {
    if (this.fault !== undefined) throw this.fault;
    if (this.isDone) return [];
    const arrived = this.waiting();
    this.connection?.execute({ rows: most });
    this.connection?.flush();
    await arrived;
    const { rows } = this;
    this.rows = [];
    return rows;
  }

  /** Gives the connection back. */
  async close(): Promise<void> {
    if (this.isDone || this.fault !== undefined) return;
    const ended = this.waiting();
    this.isDone = true;
    this.connection?.sync();
    await ended.catch(() => undefined);
  }

  private waiting(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
    });
  }

  private query() {
    const noData = () => this.settle?.resolve();
    return {
      submit: (connection: unknown) => {
        const protocol = connection as Protocol;
        this.connection = protocol;
        protocol.on('noData', noData);
        protocol.parse({ text: this.text, name: '', types: this.types });
        protocol.bind({ values: this.values });
        protocol.describe({ type: 'P', name: '' });
        protocol.flush();
      },
      handleRowDescription: ({ fields }: { fields: readonly PortalField[] }) => {
        this.fields = fields;
        this.settle?.resolve();
      },
      handleDataRow: ({ fields }: { fields: PortalRow }) => {
        this.rows.push(fields);
      },
      handlePortalSuspended: () => this.settle?.resolve(),
      handleCommandComplete: () => {
        this.isDone = true;
        this.connection?.sync();
      },
      handleEmptyQuery: () => {
        this.isDone = true;
        this.connection?.sync();
      },
      handleReadyForQuery: () => {
        this.connection?.off('noData', noData);
        this.settle?.resolve();
      },
      handleError: (cause: Error) => {
        this.fault ??= cause;
        this.connection?.off('noData', noData);
        // The database passes over everything until then.
        this.connection?.sync();
        this.settle?.reject(cause);
      },
      callback: () => undefined,
    };
  }
}
