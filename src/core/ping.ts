import { EXIT } from '../catalog/failures.ts';
import type { Clock } from './clock.ts';
import { usageFailure } from './failure.ts';
import type { Send } from './transport/send.ts';

/** Milliseconds for a response, and attempts. */
const TIMEOUT = 5000;
const ATTEMPTS = 2;

/** Tells a health check how a command goes (D52): nothing of the data, no ids, no names, no paths. */
export interface Ping {
  readonly start: () => Promise<void>;
  /** `code`: of the failure; undefined after success. */
  readonly end: (exitCode: number, code: string | undefined) => Promise<void>;
}

/** The address of `--ping`. Throws a Failure (exit 2) that does not repeat it: it is a secret. */
export function readPingUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && /^https?:$/.test(url.protocol) && url.search === '' && url.hash === '') {
    return text.replace(/\/+$/, '');
  }
  throw usageFailure('--ping must be an address such as https://hc-ping.com/…, without a query.', { source: '--ping' });
}

/** Pings for one command; `onFailure` is called when a ping could not be delivered, which fails nothing. */
export function pingOf(
  url: string,
  command: string,
  { send, clock, onFailure }: { readonly send: Send; readonly clock: Clock; readonly onFailure: () => Promise<void> },
): Ping {
  const post = async (path: string, body: string) => {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        const headers = { 'content-type': 'text/plain; charset=utf-8' };
        const signal = AbortSignal.timeout(TIMEOUT);
        const response = await send({ method: 'POST', url: url + path, headers, body, signal });
        await response.body[Symbol.asyncIterator]().return?.();
        if (response.status < 400) return;
      } catch {
        // A health check that is down is no reason to fail.
      }
      if (attempt < ATTEMPTS) await clock.sleep(1000);
    }
    await onFailure();
  };
  return {
    start: () => post('/start', command),
    end: (exitCode, code) =>
      post(exitCode === EXIT.done ? '' : '/fail', `${command} exit ${exitCode}${code === undefined ? '' : ` ${code}`}`),
  };
}
