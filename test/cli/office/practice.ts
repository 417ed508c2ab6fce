import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { STREAM_PATH } from '../../../src/catalog/stream/messages.ts';
import { lockOwner } from '../../../src/cli/process/lockowner.ts';
import { holdMirror } from '../../../src/core/mirror/access.ts';
import { openNetwork } from '../../../src/core/transport/network.ts';
import { DEMO_ORGANIZATION_ID } from '../../../src/demo/practice.ts';
import { smallPractice } from '../../demo/smallpractice.ts';
import { TestClock } from '../../support/clock.ts';
import { type TestService, testService } from '../../support/service.ts';
import { type Ran, runCommand, type World } from '../runcommand.ts';

export type Record_ = Readonly<Record<string, unknown>>;

/** A link of a record. */
export const linked = (value: unknown): string => String((value as { id: number } | null)?.id ?? '');

/** The zones of the locations, as the records of the practices say. Of the demo's the second comes first. */
export const NAMES = `kind,id,name,timezone,order
location,1000000000001,Denver,America/Denver,2
location,1000000000002,"Smithtown, East",America/New_York,1
location,5,,America/Denver,
provider,1100000000001,Dr. Archer,,
operatory,1200000000001,Op 1,,
`;

/** A practice as lines of an import, and who may read it. */
interface Practice {
  readonly records: () => readonly Record_[];
  readonly organization: string;
  readonly token: string;
}

/** Kinds of the demo practice that no report reads, and whose import and sync take most of the time. */
const LEFT_OUT =
  /^(DocumentV1|EventV1|ScheduleTemplateV1|AppointmentHistoryV1|ImageAttachmentV1|PatientInsurancePlanV1|PerioExam)$/;

/** Of how many patients of the demo practice one is there: enough for everything that a report lists. */
const SHARE = 4;

/** The records without those that lead to patients who are left out, at once or through others; ids are of one kind each. */
function thinned(all: readonly Record_[]): readonly Record_[] {
  const patients = all.filter(({ type }) => type === 'PatientV1').map(({ id }) => id);
  const gone = new Set(patients.filter((_, index) => index % SHARE !== 0));
  let left = all.map((record) => ({ record, ends: endsOf(record) }));
  for (;;) {
    const leadsNowhere = left.filter(({ ends }) => ends.some((id) => gone.has(id)));
    for (const { record } of leadsNowhere) gone.add(record.id);
    const kept = left.filter(({ record }) => !gone.has(record.id));
    if (kept.length === left.length) return kept.map(({ record }) => record);
    left = kept;
  }
}

/** The ids that a record leads to. */
function endsOf(record: Record_): unknown[] {
  const ends = (value: unknown): unknown[] =>
    typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, inner]) => (/^id$|Id$/.test(name) ? [inner] : ends(inner)))
      : [];
  return Object.values(record).flatMap(ends);
}

/** A part of the small demo practice. */
const DEMO: Practice = {
  records: () => [
    ...thinned(smallPractice().all.filter(({ type }) => !LEFT_OUT.test(type))),
    {
      ...{ type: 'AccessToken', token: 'token-of-the-demo', organizations: [DEMO_ORGANIZATION_ID] },
      scopes: ['model:read', 'practice:read'],
    },
  ],
  organization: DEMO_ORGANIZATION_ID,
  token: 'token-of-the-demo',
};

/** A practice that is served, a folder for its mirror, and commands that are run against both. */
export class Office {
  folder = '';
  service!: TestService;
  private env: Readonly<Record<string, string>> = {};
  /** Requests since the last run began. */
  requests: string[] = [];

  constructor(private readonly practice: Practice) {}

  async open(): Promise<void> {
    const { records, organization, token } = this.practice;
    this.service = await testService(records(), { clock: new TestClock(Date.now()) });
    this.folder = await mkdtemp(join(tmpdir(), 'molar-reports-'));
    const url = await this.service.app.listen({ host: '127.0.0.1', port: 0 });
    this.env = {
      ...{ MOLAR_URL: url, MOLAR_ORGANIZATION: organization, MOLAR_TOKEN: token },
      ...{ MOLAR_CONFIG_DIR: this.folder, TZ: 'UTC' },
    };
    await mkdir(join(this.folder, 'names'));
    await writeFile(join(this.folder, 'names', 'default.csv'), NAMES);
  }

  async close(): Promise<void> {
    await this.service.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** Keeps others from writing to the mirror, as a command that is syncing it does. */
  async holdMirror(): Promise<() => Promise<void>> {
    const clock = { now: Date.now, sleep: async () => {} };
    const name = join(this.folder, 'mirror', 'default.db');
    return (await holdMirror({ kind: 'file', name }, 'molar mirror sync', lockOwner(clock))).release;
  }

  /** Runs `molar ID WORDS`. `lie`: changes the text of answers. */
  async run(id: string, words: readonly string[], world: World = {}, lie?: (url: string, text: string) => string) {
    this.requests = [];
    const { default: command } = await import(
      `${resolve(import.meta.dirname, '../../../src/commands')}/${id.replaceAll(':', '/')}.ts`
    );
    return runCommand(id, command, words, {
      clock: { now: Date.now, sleep: async () => {} },
      openNetwork: (options) => {
        const network = openNetwork(options);
        return {
          ...network,
          send: async (request) => {
            this.requests.push(decodeURIComponent(request.url));
            // What is changed has another length, has to be text, and ends, which the stream does not.
            if (lie === undefined || request.url.includes(STREAM_PATH)) return network.send(request);
            const headers = { ...request.headers, 'accept-encoding': 'identity' };
            const answer = await network.send({ ...request, headers });
            const { 'content-length': _, ...others } = answer.headers;
            return { ...answer, headers: others, body: changed(answer.body, (text) => lie(request.url, text)) };
          },
        };
      },
      ...world,
      env: { ...this.env, ...world.env },
    });
  }

  /** A report as a program reads it; fails unless it ends well. */
  async json(name: string, ...words: string[]): Promise<Report> {
    return JSON.parse(succeeded(await this.run(`reports:${name}`, ['--json', ...words])).stdout) as Report;
  }

  /** All records of a list, read page by page without any code of the client. */
  async records(path: string, filter = ''): Promise<Record_[]> {
    const all: Record_[] = [];
    for (;;) {
      const query = { ...(filter !== '' && { filter }), pageSize: 500, lastId: String(all.at(-1)?.id ?? 0) };
      const page = (await this.get(path, query)) as Record_[];
      if (page.length === 0) return all;
      all.push(...page);
    }
  }

  /** `data` of an answer; undefined where there is none (404). */
  async get(path: string, query: Readonly<Record<string, string | number>>): Promise<unknown> {
    const { token, organization } = this.practice;
    const called = await this.service.call('GET', path, { query, token, organization });
    return called.status === 404 ? undefined : called.body.data;
  }
}

/** A report as JSON. */
export interface Report {
  readonly report: string;
  readonly filters: Readonly<Record<string, unknown>>;
  readonly records: readonly Record_[];
  readonly totals: Readonly<Record<string, unknown>>;
  readonly check: Readonly<Record<string, unknown>> | null;
}

/** Opens the office before the tests of a file, and closes it after. */
export function sharedOffice(practice = DEMO): Office {
  const office = new Office(practice);
  beforeAll(() => office.open());
  afterAll(() => office.close());
  return office;
}

/** What ran, which has to have ended well. */
export function succeeded(ran: Ran): Ran {
  if (ran.exitCode !== 0) throw new Error(`Exit ${ran.exitCode}: ${ran.stderr}`);
  return ran;
}

async function* changed(body: AsyncIterable<Uint8Array>, change: (text: string) => string): AsyncGenerator<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of body) parts.push(part);
  yield Buffer.from(change(Buffer.concat(parts).toString()));
}

/** Cells of CSV by their column, by a reader of its own: quotes, doubled quotes, commas and line breaks in cells. */
export function csvRows(text: string): Readonly<Record<string, string>>[] {
  const lines: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
    lines.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '\n') lines.push([]);
  }
  lines.pop();
  const [header = [], ...rows] = lines;
  return rows.map((row) => Object.fromEntries(header.map((name, at) => [name, row[at] ?? ''])));
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date of an instant in a zone, as the platform knows it. */
export function localDate(instant: unknown, zone: string): string {
  // To make a format takes a hundred times as long as to use it.
  const format = formats.get(zone) ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone });
  formats.set(zone, format);
  return format.format(Date.parse(String(instant)));
}
