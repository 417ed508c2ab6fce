import { untilAborted } from '../../../src/core/abort.ts';
import type { Clock } from '../../../src/core/clock.ts';
import { staticToken } from '../../../src/core/connection/credentials.ts';
import { Failure } from '../../../src/core/failure.ts';
import { ApiClient, type ClientOptions } from '../../../src/core/transport/client.ts';
import { DEFAULT_RETRY } from '../../../src/core/transport/retry.ts';
import {
  ConnectionFailure,
  type IncomingResponse,
  type OutgoingRequest,
  type Send,
} from '../../../src/core/transport/send.ts';

/** One step of a scripted server: an answer, or a failure of the connection. */
export type Step = IncomingResponse | ConnectionFailure | ((request: OutgoingRequest) => IncomingResponse);

export function answer(
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): IncomingResponse {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return { status, headers: { 'x-request-id': 'req-1', ...headers }, body: chunks(text) };
}

export function success(
  data: unknown,
  more: Readonly<Record<string, unknown>> = {},
  headers: Readonly<Record<string, string>> = {},
): IncomingResponse {
  return answer(200, { data, warnings: [], errors: [], ...more }, headers);
}

export function problem(status: number, code: string, source: string | null, description: string): IncomingResponse {
  return answer(status, { data: null, warnings: [], errors: [{ code, title: 'Title', source, description }] });
}

/** The connection broke; `sent` as in ConnectionFailure. */
export function broken(sent: boolean): ConnectionFailure {
  return new ConnectionFailure('The connection was cut by api.example.com.', { sent });
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  // In two pieces, so that a character may be cut in the middle.
  const half = Math.floor(bytes.length / 2);
  yield bytes.subarray(0, half);
  yield bytes.subarray(half);
}

/** A `Send` that follows a script, and what it was asked; asked once more than the script has steps, it throws. */
export class Script {
  readonly requests: OutgoingRequest[] = [];
  private readonly steps: Step[];

  constructor(...steps: Step[]) {
    this.steps = steps;
  }

  readonly send: Send = (request) => this.follow(request);

  protected async follow(request: OutgoingRequest): Promise<IncomingResponse> {
    this.requests.push(request);
    request.signal?.throwIfAborted();
    const step = this.steps.shift();
    if (step === undefined)
      throw new Error(`Unexpected request ${this.requests.length}: ${request.method} ${request.url}`);
    if (step instanceof ConnectionFailure) throw step;
    return typeof step === 'function' ? step(request) : step;
  }

  get left(): number {
    return this.steps.length;
  }

  /** The query of each request. */
  get queries(): Record<string, string>[] {
    return this.requests.map(({ url }) => Object.fromEntries(new URL(url).searchParams));
  }
}

/** A script of a list: requests for a count are no steps, and are answered with none. */
export class ListScript extends Script {
  protected override async follow(request: OutgoingRequest): Promise<IncomingResponse> {
    return isCount(request) ? success({ total: 0, totalCount: 0 }) : super.follow(request);
  }
}

function isCount({ url }: OutgoingRequest): boolean {
  return new URL(url).pathname.endsWith('/totalcount');
}

/** A clock whose sleeps end at once and are written down. */
export class SleepLog implements Clock {
  readonly sleeps: number[] = [];
  private time = Date.UTC(2026, 2, 2, 12);

  readonly now = (): number => this.time;

  readonly sleep = async (milliseconds: number, signal?: AbortSignal): Promise<void> => {
    signal?.throwIfAborted();
    this.sleeps.push(milliseconds);
    this.time += milliseconds;
  };
}

/** A clock whose sleeps end with their signal alone, and at once where they have none. */
export const endlessClock: Clock = {
  now: () => 0,
  sleep: (_milliseconds, signal) =>
    signal === undefined ? Promise.resolve() : untilAborted(new Promise<void>(() => undefined), signal),
};

/** A client of a script; jitter is always the whole step. */
export function clientOf({ send }: Pick<Script, 'send'>, options: Partial<ClientOptions> = {}): ApiClient {
  let ids = 0;
  return new ApiClient({
    baseUrl: 'https://api.example.com',
    organization: 'org-1',
    token: staticToken('secret'),
    send,
    retry: DEFAULT_RETRY,
    clock: new SleepLog(),
    random: () => 1,
    newId: () => `id-${++ids}`,
    ...options,
  });
}

/** The failure that work ends with. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error = await work.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (error instanceof Failure) return error;
  throw new Error(`No Failure but ${String(error)}`);
}
