import { createAppointment, deleteAppointment, updateAppointment } from './appointmentwrites.ts';
import { plainUpload, type Upload } from './contents.ts';
import { createEvent, createSeries, deleteEvent, regenerateSeries, updateEvent } from './eventwrites.ts';
import type { Expected, Logged, Operation } from './operation.ts';
import { FIRST_PATIENT, PATIENTS } from './practice.ts';
import type { Random } from './random.ts';
import {
  createPatient,
  createTag,
  deleteDocument,
  deleteTag,
  updateDocument,
  updatePatient,
  updateTag,
  uploadDocument,
} from './recordwrites.ts';
import { type Connections, dataOf } from './request.ts';
import type { JsonRecord, Table, Told } from './state.ts';

type Make = (writer: Writer) => Operation | undefined;

/** Which writes there are, each as often as it stands here. */
const WRITES: readonly Make[] = [
  ...[createPatient, updatePatient, updatePatient, createTag, updateTag, deleteTag],
  ...[uploadDocument, uploadDocument, uploadDocument, updateDocument, deleteDocument, deleteDocument],
  ...[createAppointment, updateAppointment, updateAppointment, updateAppointment, deleteAppointment],
  ...[createEvent, createSeries, updateEvent, updateEvent, regenerateSeries, deleteEvent],
];

/** What writers of one round have in common. */
export interface Workshop {
  /** No word is used twice, in any round. */
  readonly round: number;
  readonly writers: number;
  readonly told: Told;
  readonly images: readonly Upload[];
}

/** One client, which works on records of its own: one request after another. */
export class Writer {
  readonly number: number;
  readonly random: Random;
  private readonly shop: Workshop;
  private readonly records = new Map<Table, Map<number, JsonRecord>>();
  private words = 0;

  constructor(number: number, random: Random, shop: Workshop) {
    this.number = number;
    this.random = random;
    this.shop = shop;
    for (const table of ['patients', 'transactiontags', 'documents', 'appointments', 'events'] as const) {
      const own = [...shop.told.of(table).values()].filter((record) => this.owns(table, record));
      this.records.set(table, new Map(own.map((record) => [record.id, record])));
    }
  }

  /** A series belongs to one writer as a whole; the imported patients to none. */
  private owns(table: Table, record: JsonRecord): boolean {
    if (table === 'patients' && record.id < FIRST_PATIENT + PATIENTS) return false;
    const { groupId } = record;
    const share = typeof groupId === 'string' ? Buffer.from(groupId).reduce((sum, byte) => sum + byte, 0) : record.id;
    return share % this.shop.writers === this.number;
  }

  /** Writes until no answer comes any more, or it is told to stop; `log` hears of every outcome. */
  async work(connections: Connections, log: (logged: Logged) => void, stop: AbortSignal): Promise<void> {
    while (!stop.aborted) {
      const operation = this.random.of(WRITES)(this);
      if (operation === undefined) continue;
      const answer = await connections.send(operation);
      if (answer === undefined) {
        log({ operation, outcome: 'unknown', status: undefined, text: undefined });
        return;
      }
      if (answer.status >= 500) {
        log({ operation, outcome: 'unknown', status: answer.status, text: answer.text });
        for (const { table, id } of operation.expected) if (id !== undefined) this.drop(table, id);
        continue;
      }
      const outcome = answer.status < 300 ? 'acknowledged' : 'refused';
      log({ operation, outcome, status: answer.status, text: answer.text });
      if (outcome === 'acknowledged') operation.done?.(dataOf(answer) as JsonRecord);
    }
  }

  word(prefix: string): string {
    return `${prefix} ${this.shop.round}-${this.number}-${++this.words}`;
  }

  patient(): number {
    return FIRST_PATIENT + this.random.below(PATIENTS);
  }

  upload(): Upload {
    return this.random.next() < 0.4 ? this.random.of(this.shop.images) : plainUpload(this.random);
  }

  all(table: Table): JsonRecord[] {
    return [...this.own(table).values()];
  }

  any(table: Table): JsonRecord | undefined {
    const all = this.all(table);
    return all.length === 0 ? undefined : this.random.of(all);
  }

  /** A record that is to be deleted. */
  take(table: Table): JsonRecord | undefined {
    const record = this.any(table);
    if (record !== undefined) this.drop(table, record.id);
    return record;
  }

  keep(table: Table, record: JsonRecord): void {
    // Of what a series has become only one occurrence is known: it is left alone until everything is read again.
    if (typeof record.groupId !== 'string') this.own(table).set(record.id, record);
  }

  drop(table: Table, id: number): void {
    this.own(table).delete(id);
  }

  post(name: string, path: string, body: object, rest: Pick<Operation, 'expected' | 'content' | 'done'>): Operation {
    const requestId = this.word(name).replaceAll(' ', '-');
    return { name, method: 'POST', path, body, key: `key-${requestId}`, requestId, ...rest };
  }

  put(name: string, path: string, body: object, rest: Pick<Operation, 'expected' | 'done'>): Operation {
    return { name, method: 'PUT', path, body, requestId: this.word(name).replaceAll(' ', '-'), ...rest };
  }

  delete(name: string, path: string, expected: readonly Expected[]): Operation {
    return { name, method: 'DELETE', path, requestId: this.word(name).replaceAll(' ', '-'), expected };
  }

  private own(table: Table): Map<number, JsonRecord> {
    return this.records.get(table) as Map<number, JsonRecord>;
  }
}
