import type { FastifyInstance, InjectOptions } from 'fastify';
import { CORRELATION_HEADER } from '../../../src/catalog/stream/messages.ts';
import { buildApp } from '../../../src/server/http/app.ts';
import type { Called } from '../calls.ts';
import { ORGANIZATION, TOKENS } from '../ids.ts';
import { type TestService, testService } from '../service.ts';
import { complaintsAbout } from './answers.ts';
import { calledOf } from './called.ts';
import { filesOf, marksOf } from './marks.ts';

/** A request as it goes out: the path with its query as written, headers and bytes as they are. */
export interface FuzzRequest {
  readonly method: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
}

export const RIGHT_HEADERS = { authorization: `Bearer ${TOKENS.full}`, 'organization-id': ORGANIZATION };

/** Largest document of a fuzzed service. */
export const MOST_BYTES = 320 * 1024;

/** A service that is asked one generated request after another, and looked at after each. */
export class FuzzedService {
  private opened: { readonly service: TestService; readonly app: FastifyInstance } | undefined;
  private readonly faults: unknown[] = [];
  private readonly watchesFiles: boolean;
  private asked = 0;
  /** What is kept since the last request that was taken. */
  private marks = '';
  private files: string[] = [];

  private readonly timeouts: { readonly requestMs: number };

  /** `watchesFiles`: refused requests must leave no file behind, looked for after each. */
  constructor(watchesFiles = false, requestMs = 60_000) {
    this.watchesFiles = watchesFiles;
    this.timeouts = { requestMs };
  }

  get current(): TestService {
    return this.running().service;
  }

  /** The app that is asked, with its faults kept. */
  get app(): FastifyInstance {
    return this.running().app;
  }

  async open(): Promise<void> {
    const service = await testService(undefined, { maxDocumentBytes: MOST_BYTES });
    const app = await buildApp(service.service, {
      log: { answered() {}, failed: (_id, error) => this.faults.push(error) },
      timeouts: this.timeouts,
      behindProxy: false,
      rateLimit: 0,
      failedAttempts: 0,
    });
    this.opened = { service, app };
    await app.ready();
    await this.note();
  }

  async close(): Promise<void> {
    await this.opened?.app.close();
    await this.opened?.service.close();
    this.opened = undefined;
  }

  /** A new service with the fixture records only. */
  async renew(): Promise<void> {
    await this.close();
    await this.open();
  }

  /** Asks, and throws when the answer or what it leaves behind is not as promised. */
  async judge(request: FuzzRequest): Promise<Called> {
    const response = await this.app.inject({
      method: request.method as NonNullable<InjectOptions['method']>,
      url: request.url,
      headers: Object.fromEntries(
        Object.entries(request.headers ?? {}).filter(([, value]) => value !== undefined),
      ) as Record<string, string>,
      ...(request.body !== undefined && { payload: request.body }),
    });
    const called = calledOf(response.statusCode, response.headers, response.rawPayload);
    const complaints = complaintsAbout(called, request.method === 'HEAD');
    const allow = called.headers.allow?.split(', ') ?? [];
    if (called.status === 405 && allow.includes(request.method)) complaints.push(`405, but ${allow} are allowed`);
    this.throwFaults(complaints);
    await this.lookAfter(request, called);
    return called;
  }

  private async lookAfter({ method }: FuzzRequest, { status, headers }: Called): Promise<void> {
    if (method !== 'GET' && method !== 'HEAD') {
      if (status < 300) await this.note();
      else await this.mustBeUnchanged(status);
    }
    if (headers[CORRELATION_HEADER.toLowerCase()] !== undefined) await this.delivered();
    if (++this.asked % 20 === 0) await this.goodRequest();
  }

  private running() {
    if (this.opened === undefined) throw new Error('The service is not open.');
    return this.opened;
  }

  /** Takes what is kept now for what must be kept. */
  async note(): Promise<void> {
    this.marks = await marksOf(this.current);
    if (this.watchesFiles) this.files = await filesOf(this.current);
  }

  /** What async endpoints were asked for comes to the stream later: waits for it. */
  async delivered(): Promise<void> {
    await this.current.service.deliveries.idle();
    await this.note();
  }

  /** What was refused must have left nothing behind. */
  async mustBeUnchanged(status: number): Promise<void> {
    const marks = await marksOf(this.current);
    if (marks !== this.marks) throw new Error(`Refused with ${status}, and yet stored:\n${this.marks}\n${marks}`);
    if (!this.watchesFiles) return;
    const files = await filesOf(this.current);
    if (files.join() !== this.files.join()) throw new Error(`Refused with ${status}, and yet files stay: ${files}`);
  }

  /** The next good request works. */
  async goodRequest(): Promise<void> {
    for (const path of ['/patients?pageSize=500', '/documents?pageSize=500', '/events?pageSize=500']) {
      const called = await this.current.call('GET', path);
      const rows = called.body.data;
      if (called.status !== 200 || !Array.isArray(rows)) {
        throw new Error(`A good request is answered ${called.status} ${called.text.slice(0, 500)}`);
      }
    }
    this.throwFaults([]);
  }

  throwFaults(complaints: string[]): void {
    const fault = this.faults.pop();
    if (fault instanceof Error) throw new Error(`A fault of the server: ${fault.stack}`);
    if (complaints.length > 0) throw new Error(complaints.join('; '));
  }
}
