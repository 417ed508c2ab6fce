import type { Called } from '../calls.ts';

/** An answer, read as calls read theirs. */
export function calledOf(status: number, headers: Readonly<Record<string, unknown>>, bytes: Buffer): Called {
  const text = bytes.toString('utf8');
  return { status, headers: headers as Called['headers'], text, bytes, body: parsed(text) };
}

function parsed(text: string): Called['body'] {
  try {
    return JSON.parse(text) as Called['body'];
  } catch {
    return { data: undefined, warnings: [], errors: [] };
  }
}
