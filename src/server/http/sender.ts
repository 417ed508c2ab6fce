/** What is known of who sent a request when it is refused. */
interface Named {
  /** Id of the token. */
  readonly token?: string;
  /** `Grant.who`. */
  readonly who?: string;
  /** Key of the organization, where the sender may use it. */
  readonly org?: number;
  /** The API client that was named, whether or not there is one. */
  readonly client?: string;
}

/** The property of a request that keeps it: an entry of a WeakMap for each would cost the garbage collector more. */
const NAMED = Symbol('sender');

interface Carrier {
  [NAMED]?: Named;
}

/** Keeps who sent a request, for the log line and the audit entry of a refusal. */
export function nameSender(request: object, name: Named): void {
  (request as Carrier)[NAMED] = name;
}

/** Who sent a request, for the audit log. */
export function namedBy(request: object): Pick<Named, 'who' | 'org' | 'client'> {
  const { who, org, client } = (request as Carrier)[NAMED] ?? {};
  return {
    ...(who !== undefined && { who }),
    ...(org !== undefined && { org }),
    ...(client !== undefined && { client }),
  };
}

/** Who sent a request, in characters that cannot be taken for anything else in a log. */
export function senderName(request: object): Pick<Named, 'token' | 'client'> {
  const { token, client } = (request as Carrier)[NAMED] ?? {};
  return { ...(token !== undefined && { token }), ...(client !== undefined && { client: harmless(client) }) };
}

/** Visible ASCII of a name that somebody chose, everything else as its code point, and no more than fits a line. */
function harmless(name: string): string {
  const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return name.slice(0, 200).replace(/[^ -~]/gu, escaped);
}
