/** A part of a page: a paragraph, terms with what they mean, or lines to be typed as they stand. */
export type Block =
  | string
  | { readonly rows: readonly (readonly [term: string, meaning: string])[] }
  | { readonly code: readonly string[] };

export interface Section {
  readonly heading: string;
  readonly blocks: readonly Block[];
}

/** A page that is about no single command; shown by `molar help NAME` and made into a manual page. */
export interface Page {
  readonly name: string;
  /** Completes a list of pages: no capital letter, no full stop. */
  readonly about: string;
  readonly sections: readonly Section[];
}
