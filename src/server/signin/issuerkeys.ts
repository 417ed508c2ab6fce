import { createLocalJWKSet, type JSONWebKeySet } from 'jose';
import { isLoopback } from '../../postgres/loopback.ts';
import type { Clock } from '../clock.ts';
import { withTimeLimit } from '../timelimit.ts';

/** The public keys of an issuer, as jose looks them up. */
export type KeySet = ReturnType<typeof createLocalJWKSet>;

/** Tells when an issuer begins to answer, and when it no longer does and why. */
export type OnIssuer = (state: 'reached' | 'away', reason: string) => void;

/**
 * Time between two requests for keys, in ms: so there are at most five a minute, whoever invents ids of keys, and a new
 * key is known within 15 s.
 */
const SPACING_MS = 12_500;

/** How often keys are asked for without a reason, so that those that the issuer has withdrawn are refused. */
const REFRESH_MS = 10 * 60_000;

/** How long keys are good when the issuer no longer answers. */
const KEPT_MS = 24 * 60 * 60_000;

/** How long it may take to answer, and how many bytes an answer may have. */
const TIMEOUT_MS = 5_000;
const MAX_BYTES = 512 * 1024;

/** The keys of an issuer (OpenID Connect Discovery 1.0): asked for in the background, kept while it is away (contract §8). */
export class IssuerKeys {
  private known: { readonly keys: KeySet; readonly at: number } | undefined;
  private asking: Promise<boolean> | undefined;
  private askedAt = Number.NEGATIVE_INFINITY;
  private state: Parameters<OnIssuer>[0] | undefined;
  private timer: NodeJS.Timeout | undefined;
  /** Where the keys are, as long as they come from there. */
  private address: string | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly issuer: string,
    private readonly clock: Clock,
    private readonly tell: OnIssuer,
  ) {}

  /** Asks for keys from now on, without waiting for them. */
  start(): void {
    void this.renew();
    this.timer = setInterval(() => {
      this.address = undefined;
      void this.renew();
    }, REFRESH_MS).unref();
  }

  stop(): void {
    clearInterval(this.timer);
    this.stopping.abort();
  }

  /** The keys; undefined when the issuer has told none for a day. */
  get current(): KeySet | undefined {
    return this.known && Math.abs(this.clock() - this.known.at) < KEPT_MS ? this.known.keys : undefined;
  }

  /** Whether the latest request failed: a key may be missing here that the issuer has. */
  get isAway(): boolean {
    return this.state !== 'reached';
  }

  /** Asks for the keys, together with others who want that; true when they came, false also when it is too soon to ask. */
  renew(): Promise<boolean> {
    if (this.asking !== undefined) return this.asking;
    const now = this.clock();
    if (Math.abs(now - this.askedAt) < SPACING_MS) return Promise.resolve(false);
    this.askedAt = now;
    this.asking = this.ask(now).finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async ask(now: number): Promise<boolean> {
    try {
      const keys = await withTimeLimit(TIMEOUT_MS, this.stopping.signal, async (signal) => {
        this.address ??= await addressOf(this.issuer, signal);
        return (await fetchJson(this.address, signal)) as unknown as JSONWebKeySet;
      });
      this.known = { keys: createLocalJWKSet(keys), at: now };
      this.enter('reached', '');
      return true;
    } catch (error) {
      this.address = undefined;
      this.enter('away', reasonOf(error));
      return false;
    }
  }

  private enter(state: Parameters<OnIssuer>[0], reason: string): void {
    if (state !== this.state && !this.stopping.signal.aborted) this.tell(state, reason);
    this.state = state;
  }
}

/** Whether an address of the issuer may be used: what comes over plain HTTP from elsewhere may come from anybody. */
export function isProtected({ protocol, hostname }: URL): boolean {
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

async function addressOf(issuer: string, signal: AbortSignal): Promise<string> {
  const found = await fetchJson(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal);
  if (found?.issuer !== issuer) {
    throw new Error(`Its configuration is of another issuer, ${JSON.stringify(found?.issuer)}.`);
  }
  const address = String(found.jwks_uri);
  if (!URL.canParse(address) || !isProtected(new URL(address))) {
    throw new Error('The jwks_uri of its configuration is not an https: address.');
  }
  return address;
}

/** A JSON object; a redirect is not followed, as it may lead out of what is protected. */
async function fetchJson(address: string, signal: AbortSignal): Promise<Record<string, unknown> | null> {
  const response = await fetch(address, { redirect: 'error', signal, headers: { accept: 'application/json' } });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`${address} sends more than ${MAX_BYTES} bytes.`);
    chunks.push(chunk);
  }
  if (response.status !== 200) throw new Error(`${address} answers with ${response.status}.`);
  return JSON.parse(Buffer.concat(chunks).toString()) as Record<string, unknown> | null;
}

/** fetch itself says only that it failed. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code) : message;
}
