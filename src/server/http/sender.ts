/** What a request says of who sent it, as far as it is known when the request is refused: the id of a token, or of a client. */
export interface SenderName {
  readonly token?: string;
  readonly client?: string;
}

const names = new WeakMap<object, SenderName>();

/** Notes who sent a request, for the log line of a refusal. */
export function nameSender(request: object, name: SenderName): void {
  names.set(request, name);
}

/** Who sent a request, in characters that cannot be taken for anything else in a log. */
export function senderName(request: object): SenderName {
  const { token, client } = names.get(request) ?? {};
  return { ...(token !== undefined && { token }), ...(client !== undefined && { client: harmless(client) }) };
}

/** Visible ASCII of a name that somebody chose, everything else as its code point, and no more than fits a line. */
function harmless(name: string): string {
  const escaped = (character: string) => `\\u{${character.codePointAt(0)?.toString(16)}}`;
  return name.slice(0, 200).replace(/[^ -~]/gu, escaped);
}
