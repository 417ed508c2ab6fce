/** What the process that talks to the keyring is asked, as one JSON text on its standard input. */
export type KeyringQuestion =
  | { readonly act: 'read' | 'remove'; readonly account: string }
  | { readonly act: 'write'; readonly account: string; readonly secret: string };

/** What it answers on its standard output: the secret for a read, null where there is none, or why it could not. */
export type KeyringAnswer = { readonly secret: string | null } | { readonly trouble: string };
