import type { LinkFetching } from '../../core/documents/links/fetchlink.ts';
import type { Connections } from '../connections.ts';
import type { Context } from '../context.ts';

/** Milliseconds without a byte after which a download is aborted and tried again. */
const STALL = 90_000;

/** What it takes to fetch signed links, from the settings of a command. */
export async function linkFetching(connections: Connections, context: Context): Promise<LinkFetching> {
  const { clock, random, signal } = context;
  const { send } = await connections.network();
  return { send, retry: connections.retryPolicy(), clock, random, stall: STALL, signal };
}
