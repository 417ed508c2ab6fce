import { createHash } from 'node:crypto';
import { changeOf, type Entry, type Evidence, type Message } from './evidence.ts';
import type { Expected, Logged } from './operation.ts';
import { type Change, type JsonRecord, TABLE_NAMES, Told } from './state.ts';

/** What became of the writes of one round. */
export interface Judged {
  readonly problems: string[];
  /** Writes that were not acknowledged and are there all the same. */
  readonly done: readonly Logged[];
  /** Writes that were not acknowledged and are not there. */
  readonly undone: readonly Logged[];
}

/**
 * Compares what clients know with what a database holds. What the stream tells, from its first message on, must be
 * the records as they are; the audit log must tell of the same changes in the same order; a write that was
 * acknowledged must be there with everything it does, and one that was not with everything or with nothing.
 */
export class Oracle {
  readonly told = new Told();
  /** Messages that were judged, and the hash over them: they stay as they are. */
  private judged = 0;
  private hash = hashOf([]);
  /** Entries of the audit log that were judged, or are of the import. */
  private audited = 0;

  /** Takes an import over, which nobody is asked about. */
  begin(evidence: Evidence): string[] {
    const problems = evidence.messages.flatMap((message) => this.told.take(changeOf(message)) ?? []);
    this.note(evidence);
    return [...problems, ...this.compareRecords(evidence)];
  }

  /** How many messages were judged. */
  get messages(): number {
    return this.judged;
  }

  judge(evidence: Evidence, log: readonly Logged[]): Judged {
    const problems: string[] = [];
    const { messages, audit } = evidence;
    if (messages.some(({ id }, index) => id !== index + 1)) problems.push('the numbers of messages have gaps');
    if (hashOf(messages.slice(0, this.judged)) !== this.hash) problems.push('messages of earlier rounds have changed');
    const fresh = messages.slice(this.judged).map(changeOf);
    const entries = audit.slice(this.audited);
    problems.push(...compareAudit(fresh, entries));
    const byRequest = new Map<string, Change[]>();
    for (const [index, change] of fresh.entries()) {
      const request = entries[index]?.requestId ?? '';
      byRequest.set(request, [...(byRequest.get(request) ?? []), change]);
    }
    const answered = new Map(log.map((logged) => [logged.operation.requestId, logged]));
    const done: Logged[] = [];
    const undone: Logged[] = [];
    for (const [index, change] of fresh.entries()) {
      const problem = this.told.take(change);
      if (problem !== undefined) problems.push(problem);
      const request = entries[index]?.requestId ?? '';
      const logged = answered.get(request);
      if (logged === undefined)
        problems.push(`${change.verb} of ${change.table} ${change.id}, which nobody asked for (${request})`);
      else if (byRequest.get(request)?.at(-1) === change)
        problems.push(...this.compareAnswer(logged, byRequest.get(request) ?? []));
    }
    for (const logged of log) {
      const changes = byRequest.get(logged.operation.requestId) ?? [];
      problems.push(...compareChanges(logged, changes), ...compareKey(evidence, logged, changes));
      if (logged.outcome === 'unknown') (changes.length > 0 ? done : undone).push(logged);
    }
    problems.push(...this.compareRecords(evidence));
    this.note(evidence);
    return { problems, done, undone };
  }

  private note({ messages, audit }: Evidence): void {
    this.judged = messages.length;
    this.audited = audit.length;
    this.hash = hashOf(messages);
  }

  /** Every stored record is what the stream tells of it, and there is no other. */
  private compareRecords({ records }: Evidence): string[] {
    return TABLE_NAMES.flatMap((table) => {
      const told = this.told.of(table);
      const stored = records.get(table) as ReadonlyMap<number, string>;
      const lost = [...told.keys()]
        .filter((id) => !stored.has(id))
        .map((id) => `${table} ${id} was told and is not there`);
      const wrong = [...stored].flatMap(([id, json]) => {
        if (JSON.stringify(told.get(id)) === json) return [];
        return [`${table} ${id} is ${json}, and the stream tells ${JSON.stringify(told.get(id))}`];
      });
      return [...lost, ...wrong];
    });
  }

  /** The record in an answer is the one that is there right after the write. */
  private compareAnswer({ operation, outcome, text }: Logged, changes: readonly Change[]): string[] {
    if (outcome !== 'acknowledged' || operation.method === 'DELETE') return [];
    const { storage: _, ...answer } = (JSON.parse(text ?? '{}') as { data: JsonRecord }).data;
    const target = changes[0] as Change;
    const [is, was] = [JSON.stringify(this.told.of(target.table).get(target.id)), JSON.stringify(answer)];
    return is === was ? [] : [`${operation.requestId} was answered ${was}, and there is ${is}`];
  }
}

function hashOf(messages: readonly Message[]): string {
  const hash = createHash('sha256');
  for (const { id, key, payload } of messages) hash.update(`${id} ${key} ${payload}\n`);
  return hash.digest('hex');
}

function compareAudit(changes: readonly Change[], entries: readonly Entry[]): string[] {
  const told = changes.map(({ table, verb, id }) => `${table}.${verb} ${id}`);
  const audited = entries.map(({ operation, ids }) => `${operation} ${ids}`);
  const at = told.findIndex((line, index) => line !== audited[index]);
  if (at >= 0) return [`message ${at} of the round tells ${told[at]}, the audit log ${audited[at]}`];
  return told.length === audited.length
    ? []
    : [`${told.length} changes are told, ${audited.length} are in the audit log`];
}

/** An acknowledged write did everything, a refused one nothing, any other the one or the other. */
function compareChanges({ operation, outcome, status, text }: Logged, changes: readonly Change[]): string[] {
  const { expected, requestId } = operation;
  if (outcome === 'refused') return [`${requestId} was refused with ${status}: ${text}`];
  if (changes.length === 0) return outcome === 'unknown' ? [] : [`${requestId} was acknowledged and is lost`];
  const asExpected = expected.length === changes.length && expected.every((each, index) => fits(each, changes[index]));
  if (asExpected) return [];
  return [`${requestId} (${outcome}) should do ${JSON.stringify(expected)}, and did ${JSON.stringify(changes)}`];
}

function fits({ verb, table, id, has = {} }: Expected, change: Change | undefined): boolean {
  if (change === undefined || change.verb !== verb || change.table !== table) return false;
  if (id !== undefined && change.id !== id) return false;
  return Object.entries(has).every(([name, value]) => JSON.stringify(change.payload[name]) === JSON.stringify(value));
}

/** The kept answer of a key is there when the write is, and is what the client got. */
function compareKey({ answers }: Evidence, { operation, outcome, text }: Logged, changes: readonly Change[]): string[] {
  if (operation.key === undefined) return [];
  const kept = answers.get(operation.key);
  if ((kept !== undefined) !== changes.length > 0) {
    return [`${operation.requestId} has ${changes.length} changes, and ${kept ? 'a' : 'no'} kept answer`];
  }
  return kept === undefined || outcome === 'unknown' || kept === text
    ? []
    : [`${operation.requestId} keeps another answer`];
}
