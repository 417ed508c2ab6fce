import { readFile } from 'node:fs/promises';
import type { Warning } from '../catalog/failures.ts';
import { readCredentials, type SecretReaders } from '../core/connection/credentials.ts';
import { type ConnectionFlags, readSettings } from '../core/connection/settings.ts';
import type { TokenFacts, TokenListener } from '../core/connection/tokenfacts.ts';
import type { LastResponse } from '../core/doctor/lastresponse.ts';
import { usageFailure } from '../core/failure.ts';
import { terminalMessage, terminalText } from '../core/output/terminaltext.ts';
import { SecretStore } from '../core/profiles/secretstore.ts';
import { readTextFile } from '../core/textfile.ts';
import type { AttemptNotice } from '../core/transport/attempt.ts';
import { ApiClient } from '../core/transport/client.ts';
import type { ExchangeContext, RetryNotice } from '../core/transport/exchange.ts';
import type { Network } from '../core/transport/network.ts';
import { Pacer } from '../core/transport/pacer.ts';
import { proxyFor } from '../core/transport/proxy.ts';
import { DEFAULT_RETRY, type RetryPolicy } from '../core/transport/retry.ts';
import { decodePem } from '../text/decode.ts';
import type { Context } from './context.ts';
import { readConnectionFlags } from './flags/connection.ts';
import { type FlagValues, isOn, textFlag, wholeNumber } from './flags/values.ts';
import { lockOwner } from './process/lockowner.ts';
import { runShell } from './process/shell.ts';
import type { Notes } from './terminal/notes.ts';
import { readAll } from './terminal/streams.ts';
import { nextTryText } from './terminal/text.ts';

/** Opens what a command needs of the network, and closes it. */
export class Connections {
  /** Called before a request is retried, besides `--verbose`. */
  onRetry: ((notice: RetryNotice) => void) | undefined;
  /** Called with the facts of each token that is read or issued. */
  onToken: TokenListener | undefined;
  /** Called with the headers of each response. */
  onHeaders: ((headers: Readonly<Record<string, string>>) => void) | undefined;
  private readonly pacer: Pacer;
  private opened: Promise<Network> | undefined;

  /** Warnings of the server go to `notes`. */
  constructor(
    private readonly context: Context,
    private readonly flags: FlagValues,
    private readonly userAgent: string,
    private readonly notes: Notes,
  ) {
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
  network(): Promise<Network> {
    this.opened ??= this.open();
    return this.opened;
  }

  retryPolicy(): RetryPolicy {
    return { ...DEFAULT_RETRY, maxRetries: wholeNumber(this.flags, 'max-retries', 0, 100) ?? DEFAULT_RETRY.maxRetries };
  }

  async close(): Promise<void> {
    const network = await this.opened?.catch(() => undefined);
    await network?.close();
  }

  private async open(): Promise<Network> {
    const network = this.context.openNetwork({
      certificates: await readCertificates(textFlag(this.flags, 'ca-cert'), this.context.env.NODE_EXTRA_CA_CERTS),
      proxyFor: (address) => proxyFor(address, this.context.env),
    });
    const { onHeaders } = this;
    if (onHeaders === undefined) return network;
    const send: Network['send'] = async (request) => {
      const response = await network.send(request);
      onHeaders(response.headers);
      return response;
    };
    return { ...network, send };
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
      file: (path) => readFile(path),
      command: (line) => runShell(line, this.context.signal),
      keyring: (account, profile) => profileSecrets(this.context).read(account, profile),
    };
  }

  private log(text: string): void {
    void this.context.streams.stderr.write(`${text}\n`).catch(() => undefined);
  }
}

/** What a server said: the facts of the token in use, and the last response. */
export interface Observed {
  token: (TokenFacts & { readonly renewed: boolean }) | undefined;
  lastResponse: LastResponse | undefined;
}

/** Records what the server says over connections that are not open yet: headers of refusals are worth reading too. */
export function observe(connections: Connections, { clock }: Context): Observed {
  const observed: Observed = { token: undefined, lastResponse: undefined };
  connections.onToken = (token, renewed) => {
    observed.token = { ...token, renewed };
  };
  connections.onHeaders = (headers) => {
    observed.lastResponse = { headers: { ...observed.lastResponse?.headers, ...headers }, at: clock.now() };
  };
  return observed;
}

/** The secrets of the user's profiles. */
export function profileSecrets({ env, keyring, newId, clock }: Context): SecretStore {
  return new SecretStore({ env, keyring, newId, owner: lockOwner(clock) });
}

/** PEM texts of `--ca-cert`, and of NODE_EXTRA_CA_CERTS, which our own certificates would replace in TLS. */
export async function readCertificates(own: string | undefined, extra: string | undefined): Promise<string[]> {
  if (own === undefined) return [];
  const read = (path: string) => readTextFile(path, { doing: `read the certificates in ${path}`, decode: decodePem });
  const text = await read(own);
  if (!text.includes('-----BEGIN CERTIFICATE-----')) {
    throw usageFailure('--ca-cert must name a file with certificates in PEM form.', { source: '--ca-cert' });
  }
  return extra ? [text, await read(extra)] : [text];
}

/** A warning of the server as one line. */
export function warningText(warning: Warning): string {
  const source = warning.source === null ? '' : ` (${warning.source})`;
  return terminalMessage(`${warning.title}: ${warning.description}${source}`);
}

function retryText({ attempt, attempts, wait, reason }: RetryNotice): string {
  return `Attempt ${attempt} of ${attempts} failed: ${terminalText(reason)} ${nextTryText(wait)}`;
}

function attemptText({ method, target, status, milliseconds, requestId }: AttemptNotice): string {
  return terminalText(`${method} ${target} ${status ?? 'no response'} ${milliseconds} ms ${requestId ?? ''}`.trimEnd());
}
