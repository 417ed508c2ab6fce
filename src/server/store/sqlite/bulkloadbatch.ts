/** A text that statements name by its place in the order in which texts came, and how many values it takes. */
export interface Text {
  readonly sql: string;
  readonly places: number;
}

/** What waits for an answer. */
export type Question =
  | { readonly kind: 'begin' }
  | { readonly kind: 'all' | 'get' | 'run'; readonly sql: string; readonly values: readonly unknown[] }
  | { readonly kind: 'suspend'; readonly tables: readonly string[] }
  | { readonly kind: 'restore' };

/** Statements that are run in order, and a question after them. One object for many, since to send an object costs. */
export interface Batch {
  /** Texts that are new. */
  readonly texts: readonly Text[];
  /** The text of each statement. */
  readonly calls: readonly number[];
  /** The values of all statements, one after another. */
  readonly values: readonly unknown[];
  readonly question?: Question;
}

/** What a batch came to: what its question found, or the first fault. */
export type Answer = { readonly found?: unknown } | { readonly fault: Fault };

/** An error as it can be sent. */
export interface Fault {
  readonly message: string;
  readonly code?: string;
}
