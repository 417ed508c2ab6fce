import { pause } from '../../src/server/pause.ts';
import { Relay } from '../../src/server/stream/relay/relay.ts';
import { changeSomething, serverRecords, tellTime } from '../core/mirror/practice.ts';
import { moodsOf } from '../faithful/moods.ts';
import type { Draws } from '../faithful/random.ts';
import { type Faithful, startFaithful } from '../faithful/service.ts';
import { type Fields, LISTED, type Resource } from '../faithful/store.ts';
import { TestClock } from '../support/clock.ts';
import { LOCATIONS, ORGANIZATION, TOKENS } from '../support/ids.ts';
import { rawRows } from '../support/rawsql.ts';
import { type TestService, testService } from '../support/service.ts';
import { SeededBroker } from './broker.ts';
import type { Disks } from './disk.ts';
import type { Host, Wire } from './wires.ts';

/** The server of a practice, and its staff, who work at the server itself. */
export interface Office {
  /** What connects the command line; nothing listens there. */
  readonly env: Readonly<Record<string, string>>;
  readonly location: number;
  readonly host: Host;
  /** Whether a POST that arrives twice with the same key is one. */
  readonly knowsKeys: boolean;
  /** One change by its staff. */
  change(draws: Draws): Promise<void>;
  /** Ends, is away for some minutes, and starts again: what it had acknowledged is there. */
  restart(draws: Draws, cutAll: () => void): Promise<void>;
  /** What a copy has to have, by resource. */
  records(): Promise<ReadonlyMap<string, readonly Fields[]>>;
  /** How many records whose field begins with this text were created, whatever became of them. */
  created(resource: 'patients' | 'documents', field: string, text: string): Promise<number>;
  close(): Promise<void>;
}

/** Milliseconds that a server is away: up to ten minutes. */
function awayOf(draws: Draws): number {
  return draws.whole(1, 600) * 1000;
}

/** Tells virtual time, which nobody sets. */
class VirtualClock extends TestClock {
  override readonly now = () => Date.now();
  override advance(): void {}
}

/** A request that the server has answered with success. */
interface Answered {
  readonly requestId: string;
  readonly line: string;
}

const EXCHANGE = { url: 'amqp://broker', exchange: 'molar.stream', name: 'broker' };
const IGNORED = { connected: () => undefined, failed: () => undefined };

/** Our own server, with its database on a disk, which relays its stream to a broker. */
export class OurOffice implements Office {
  readonly env = { ...NOWHERE, MOLAR_ORGANIZATION: ORGANIZATION, MOLAR_TOKEN: TOKENS.full };
  readonly location = LOCATIONS.west;
  readonly knowsKeys = true;
  readonly answered: Answered[] = [];
  private isUp = true;
  private relay: Relay | undefined;
  /** What its staff is doing right now. */
  private doing: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly folder: string,
    private readonly disks: Disks,
    private opened: TestService,
    readonly broker: SeededBroker,
  ) {}

  static async open(folder: string, disks: Disks, seed: string): Promise<OurOffice> {
    const opened = await testService(undefined, { data: folder, clock: new VirtualClock() });
    disks.settle(folder);
    const office = new OurOffice(folder, disks, opened, new SeededBroker(seed));
    await office.attend();
    return office;
  }

  get service(): TestService {
    return this.opened;
  }

  readonly host = () => (this.isUp ? (wire: Wire) => void this.opened.app.server.emit('connection', wire) : undefined);

  async change(draws: Draws): Promise<void> {
    if (!this.isUp) return;
    this.doing = changeSomething(this.opened, draws);
    await this.doing;
  }

  async restart(draws: Draws, cutAll: () => void): Promise<void> {
    this.isUp = false;
    await this.doing;
    const left = draws.chance(1 / 3) ? this.disks.afterCut(this.folder, draws) : undefined;
    cutAll();
    // Of some restarts the broker sees nothing but the end of its connection.
    if (draws.chance(1 / 2)) this.broker.cutAll();
    await this.end();
    if (left !== undefined) this.disks.become(this.folder, left);
    await pause(awayOf(draws));
    this.opened = await testService([], { data: this.folder, clock: new VirtualClock() });
    await this.attend();
    this.isUp = true;
  }

  records(): Promise<ReadonlyMap<string, readonly Fields[]>> {
    return serverRecords(this.opened);
  }

  async created(resource: 'patients' | 'documents', field: string, text: string): Promise<number> {
    const type = resource === 'patients' ? 'PatientV1' : 'DocumentV1';
    const rows = await rawRows(
      this.opened,
      `SELECT seq FROM stream_messages
        WHERE routing_key LIKE '%.${type}.CREATE' AND json_extract(payload, '$.${field}') LIKE '${text}%'`,
    );
    return rows.length;
  }

  /** Whether the broker has everything within some virtual minutes. */
  async relayed(minutes: number): Promise<boolean> {
    for (let left = minutes * 60; left > 0 && this.relay?.lag !== 0; left--) await pause(1000);
    return this.relay?.lag === 0;
  }

  close(): Promise<void> {
    this.isUp = false;
    return this.end();
  }

  private async end(): Promise<void> {
    await this.relay?.stop();
    await this.opened.close();
  }

  /** Notes what is answered. */
  private async attend(): Promise<void> {
    const { app } = this.opened;
    await app.ready();
    tellTime(this.opened);
    this.relay = await Relay.start(this.opened.service, EXCHANGE, IGNORED, this.broker.openBroker);
    app.server.prependListener('request', ({ method = '', url = '' }, response) => {
      response.once('finish', () => {
        if (response.statusCode >= 300) return;
        this.answered.push({ requestId: String(response.getHeader('x-request-id')), line: `${method} ${url}` });
      });
    });
  }
}

const NOWHERE = { MOLAR_URL: 'http://127.0.0.1:9' };

/** Those that a mirror has of it. */
const MIRRORED: readonly Resource[] = [...LISTED, 'imageattachments'];

/** A new record is like another one; not by its name, which tells those of the commands. */
const NAMED: Readonly<Partial<Record<Resource, Fields>>> = {
  patients: { lastName: 'Staffmade' },
  documents: { name: 'Staffmade' },
};

/** A service that keeps the specification and no more. */
export class FaithfulOffice implements Office {
  readonly env: Readonly<Record<string, string>>;
  readonly location: number;
  readonly knowsKeys = false;
  private isUp = true;

  private constructor(readonly service: Faithful) {
    this.env = { ...service.env, ...NOWHERE };
    this.location = Number(service.practice.locations[0]?.id);
  }

  static async open(seed: string): Promise<FaithfulOffice> {
    // Instants without a zone could not be compared.
    const moods = { ...moodsOf(seed), instants: 'seconds' } as const;
    return new FaithfulOffice(await startFaithful({ seed, moods, now: Date.now, closesConnections: true }));
  }

  readonly host: Host = (url) => {
    if (!this.isUp) return undefined;
    return url.startsWith(NOWHERE.MOLAR_URL) ? this.service.accept : this.service.acceptFile;
  };

  async change(draws: Draws): Promise<void> {
    const resource = draws.one(MIRRORED);
    const { service } = this;
    const records = service.reachable(resource);
    if (records.length === 0) return;
    const { id, ...record } = draws.one(records);
    if (record.isActive === true && draws.chance(0.5)) return void service.correct(Number(id));
    const what = draws.one(['add', 'edit', 'remove'] as const);
    // Histories are only ever added (Appointment histories: no create, update or delete).
    if (what === 'add' || resource === 'appointmenthistories') service.add(resource, NAMED[resource]);
    else if (what === 'edit') service.edit(resource, Number(id), {});
    // What the commands created stays, so that it can be counted.
    else if (!/^(Deskmade|Scan )/.test(`${record.lastName ?? record.name}`)) service.remove(resource, Number(id));
  }

  async restart(draws: Draws, cutAll: () => void): Promise<void> {
    this.isUp = false;
    cutAll();
    await pause(awayOf(draws));
    this.isUp = true;
  }

  async records(): Promise<ReadonlyMap<string, readonly Fields[]>> {
    return new Map(MIRRORED.map((resource) => [resource, this.service.reachable(resource)]));
  }

  async created(resource: 'patients' | 'documents', field: string, text: string): Promise<number> {
    return this.service.records(resource).filter((record) => String(record[field]).startsWith(text)).length;
  }

  close(): Promise<void> {
    return this.service.close();
  }
}
