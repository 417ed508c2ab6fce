import { readFile } from 'node:fs/promises';
import type { Warning } from '../catalog/failures.ts';
import { readCredentials, type SecretReaders } from '../core/connection/credentials.ts';
import { type ConnectionFlags, readSettings } from '../core/connection/settings.ts';
import type { TokenListener } from '../core/connection/tokenfacts.ts';
import { fileFailure, usageFailure } from '../core/failure.ts';
import { terminalMessage, terminalText } from '../core/output/terminaltext.ts';
import type { AttemptNotice } from '../core/transport/attempt.ts';
import { ApiClient } from '../core/transport/client.ts';
import type { ExchangeContext, RetryNotice } from '../core/transport/exchange.ts';
import type { Network } from '../core/transport/network.ts';
import { Pacer } from '../core/transport/pacer.ts';
import { proxyFor } from '../core/transport/proxy.ts';
import { DEFAULT_RETRY, type RetryPolicy } from '../core/transport/retry.ts';
import { secretStore } from './account/keyring/secretstore.ts';
import type { Context } from './context.ts';
import { readConnectionFlags } from './flags/connection.ts';
import { wholeNumber } from './flags/numbers.ts';
import { type FlagValues, isOn, textFlag } from './flags/values.ts';
import type { Notes } from './terminal/notes.ts';
import { runShell } from './terminal/shell.ts';
import { readAll } from './terminal/streams.ts';

/** Opens what a command needs of the network, and closes it. */
export class Connections {
  /** Told when a request is about to be tried again, besides `--verbose`. */
  onRetry: ((notice: RetryNotice) => void) | undefined;
  /** Told what is known of each token, as it is read or given out. */
  onToken: TokenListener | undefined;
  private readonly context: Context;
  private readonly flags: FlagValues;
  private readonly userAgent: string;
  private readonly notes: Notes;
  private readonly pacer: Pacer;
  private opened: Network | undefined;

  /** Warnings of the server go to `notes`. */
  constructor(context: Context, flags: FlagValues, userAgent: string, notes: Notes) {
    this.context = context;
    this.flags = flags;
    this.userAgent = userAgent;
    this.notes = notes;
    this.pacer = new Pacer(context.clock);
  }

  async client(): Promise<ApiClient> {
    const flags = readConnectionFlags(this.flags);
    const settings = readSettings(flags, this.context.env);
    const exchange = await this.exchange(flags);
    const { clock, random, policy: retry, pacer, send, onRetry, onAttempt } = exchange;
    return new ApiClient({
      baseUrl: settings.baseUrl,
      organization: settings.organization,
      token: await readCredentials(flags, this.context.env, settings, this.secrets(), exchange, this.onToken),
      newId: this.context.newId,
      userAgent: this.userAgent,
      onWarning: (warning) => {
        if (!isOn(this.flags, 'quiet')) void this.notes.say(`Warning: ${warningText(warning)}`);
      },
      ...{ send, retry, pacer, clock, random },
      ...(onRetry && { onRetry }),
      ...(onAttempt && { onAttempt }),
    });
  }

  /** The network of this command, for requests that are not to the API itself (signed links). */
  async network(): Promise<Network> {
    this.opened ??= this.context.openNetwork({
      certificates: await readCertificates(textFlag(this.flags, 'ca-cert'), this.context.env.NODE_EXTRA_CA_CERTS),
      proxyFor: (address) => proxyFor(address, this.context.env),
    });
    return this.opened;
  }

  retryPolicy(): RetryPolicy {
    return { ...DEFAULT_RETRY, maxRetries: wholeNumber(this.flags, 'max-retries', 0, 100) ?? DEFAULT_RETRY.maxRetries };
  }

  async close(): Promise<void> {
    await this.opened?.close();
  }

  private async exchange(flags: ConnectionFlags): Promise<ExchangeContext> {
    if (flags.tokenStdin && textFlag(this.flags, 'data') === '-') {
      throw usageFailure('--token-stdin and --data - both read standard input; give one of them another way.', {
        source: '--token-stdin',
      });
    }
    const policy = this.retryPolicy();
    const verbose = isOn(this.flags, 'verbose');
    return {
      send: (await this.network()).send,
      policy,
      pacer: this.pacer,
      clock: this.context.clock,
      random: this.context.random,
      timeout: 90_000,
      onRetry: (notice) => {
        if (verbose) this.log(retryText(notice));
        this.onRetry?.(notice);
      },
      ...(verbose && { onAttempt: (notice) => this.log(attemptText(notice)) }),
    };
  }

  private secrets(): SecretReaders {
    return {
      stdin: () => readAll(this.context.streams.stdin.chunks, this.context.signal),
      file: (path) => readFile(path, 'utf8'),
      command: (line) => runShell(line, this.context.signal),
      keyring: (account, profile) => secretStore(this.context).read(account, profile),
    };
  }

  private log(text: string): void {
    void this.context.streams.stderr.write(`${text}\n`).catch(() => undefined);
  }
}

/** Own certificates take the place of NODE_EXTRA_CA_CERTS in TLS, so that file is read as well. */
export async function readCertificates(own: string | undefined, extra: string | undefined): Promise<string[]> {
  if (own === undefined) return [];
  const read = (path: string) =>
    readFile(path, 'utf8').catch((cause: unknown) => {
      throw fileFailure(`read the certificates in ${path}`, cause);
    });
  const text = await read(own);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw usageFailure('--ca-cert must name a file with certificates in PEM form.', { source: '--ca-cert' });
  }
  return extra ? [text, await read(extra)] : [text];
}

export function warningText(warning: Warning): string {
  const source = warning.source === null ? '' : ` (${warning.source})`;
  return terminalMessage(`${warning.title}: ${warning.description}${source}`);
}

function retryText({ attempt, attempts, wait, reason }: RetryNotice): string {
  return `Attempt ${attempt} of ${attempts} failed: ${terminalText(reason)} Next in ${(wait / 1000).toFixed(1)} s.`;
}

function attemptText({ method, target, status, milliseconds, requestId }: AttemptNotice): string {
  return terminalText(`${method} ${target} ${status ?? 'no answer'} ${milliseconds} ms ${requestId ?? ''}`.trimEnd());
}
