import { ORGANIZATION, TOKEN } from '../molar.ts';

/** A message of the stream as a listener gets it. */
export interface LastResponse {
  readonly id: number;
  readonly payload: unknown;
}

/** Listens behind a message until the server goes away. */
export async function hear(url: string, after: number): Promise<LastResponse[]> {
  const heard: LastResponse[] = [];
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION, accept: 'application/x-ndjson' };
  try {
    const { body } = await fetch(`${url}/api/v1/stream?lastEventId=${after}`, { headers });
    const decoder = new TextDecoder();
    let rest = '';
    for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
      const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines.filter(Boolean)) {
        const message = JSON.parse(line) as Partial<LastResponse>;
        if (typeof message.id === 'number') heard.push({ id: message.id, payload: message.payload });
      }
    }
  } catch {
    // The server is killed while it is listened to.
  }
  return heard;
}
