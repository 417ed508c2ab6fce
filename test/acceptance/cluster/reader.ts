import { setTimeout as sleep } from 'node:timers/promises';
import { ORGANIZATION, TOKEN } from '../molar.ts';
import type { Cluster } from './servers.ts';

/** A message of the stream. */
export interface LastResponse {
  readonly id: number;
  readonly domainType: string;
  readonly operation: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/**
 * Listens from the beginning, at whichever server is there, and goes on behind the last message whenever one goes away,
 * until the signal is aborted. Messages are added to `heard` as they come.
 */
export async function listen(cluster: Cluster, quiet: AbortSignal, heard: LastResponse[]): Promise<void> {
  for (let turn = 0; !quiet.aborted; turn++) {
    const url = await cluster.url(turn);
    await hear(`${url}/api/v1/stream?lastEventId=${heard.at(-1)?.id ?? 0}`, heard, quiet).catch(() => undefined);
    await sleep(20);
  }
}

async function hear(url: string, heard: LastResponse[], signal: AbortSignal): Promise<void> {
  const headers = { authorization: `Bearer ${TOKEN}`, 'organization-id': ORGANIZATION, accept: 'application/x-ndjson' };
  const response = await fetch(url, { headers, signal });
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines.filter(Boolean)) {
      const message = JSON.parse(line) as LastResponse;
      if (typeof message.id === 'number' && message.domainType !== undefined) heard.push(message);
    }
  }
}
