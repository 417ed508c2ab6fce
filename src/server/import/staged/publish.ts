import sql, { join } from 'sql-template-tag';
import type { Resource } from '../../../catalog/define.ts';
import type { Link } from '../../../catalog/fields/composites.ts';
import { patients } from '../../../catalog/resources/patients.ts';
import { recordChange } from '../../engine/writing.ts';
import type { Organization } from '../../organizations.ts';
import { forgetTransaction, settleLedger } from '../../reports/aging/ledger.ts';
import { behaviourOf } from '../../resources/behaviours.ts';
import { refreshReferred } from '../../resources/patients.ts';
import type { JsonRecord } from '../../store/layout.ts';
import { directPatientOf, patientOf } from '../../store/patientof.ts';
import { putRecord, removeRecord } from '../../store/records.ts';
import type { Transaction } from '../../store/store.ts';
import { correct, correctStored } from '../corrections.ts';
import { removeDocument, storeDocument } from '../documents.ts';
import { RECORD_KINDS, RESOURCE_BY_TYPE, type RecordKind } from '../kinds.ts';
import { tableOfKind } from '../links.ts';
import { draftOf, upsertReference } from '../records.ts';
import type { Tally } from './plan.ts';
import type { PreparedGroup, PreparedLine, Publishing } from './prepare.ts';
import { REFERRALS, STEPS } from './stagedlines.ts';
import { Unwaited } from './unwaited.ts';

/**
 * Publishes a group in a transaction, as requests would have written it: with its messages, counts and ledger. What is
 * to be audited is added to the tally.
 */
export async function publishGroup(
  transaction: Transaction,
  publishing: Publishing,
  organization: Organization,
  group: PreparedGroup,
  tally: Tally,
): Promise<void> {
  const tx = new Unwaited(transaction);
  const { step } = group;
  const publication = new Publication(tx, publishing, organization, group, tally);
  if (step === STEPS.references) await publication.references();
  else if (step === STEPS.referrals) await publication.referrals();
  else if (step === STEPS.corrections) await publication.corrections();
  else await publication.records();
  if (step === STEPS.patients || step === STEPS.others || step === STEPS.corrections) await settleLedger(tx);
}

/** One group of lines on its way into the tables. */
class Publication {
  private readonly org: number;
  private readonly lines: readonly PreparedLine[];

  constructor(
    private readonly tx: Transaction,
    private readonly publishing: Publishing,
    private readonly organization: Organization,
    private readonly group: PreparedGroup,
    private readonly tally: Tally,
  ) {
    this.org = organization.org;
    this.lines = group.lines;
  }

  async references(): Promise<void> {
    const { tx, org, tally } = this;
    const stored = await storedRecords(tx, org, this.lines);
    for (const line of this.lines) {
      const { type, id, values } = line;
      const kind = RECORD_KINDS.get(type) as RecordKind;
      const before = stored.get(keyOf(line));
      if (before !== undefined) tally.changed(org, directPatientOf({ name: type }, JSON.parse(before)));
      if (values === undefined) {
        await tx.run(sql`DELETE FROM reference_records WHERE org = ${org} AND type = ${type} AND id = ${id}`);
        continue;
      }
      tally.changed(org, directPatientOf({ name: type }, values));
      await tx.run(upsertReference(org, kind, id, values));
    }
  }

  async records(): Promise<void> {
    const stored = await storedRecords(this.tx, this.org, this.lines);
    const referred = await this.referredPatients();
    for (const line of this.lines) {
      const before = stored.get(keyOf(line)) ?? null;
      const after =
        line.values === undefined ? await this.remove(line, before) : await this.put(line, before, referred);
      await this.tell(line, before, after);
    }
  }

  async referrals(): Promise<void> {
    for (const { id } of this.lines) await this.refresh(id);
  }

  async corrections(): Promise<void> {
    const { service, now } = this.publishing;
    for (const { id, link } of this.lines) {
      await correctStored(this.tx, service, { org: this.org, original: id, replacement: link as number }, now);
    }
  }

  private async remove({ type, id }: PreparedLine, before: string | null): Promise<null> {
    const { tx, org } = this;
    if (type === 'DocumentV1') await removeDocument({ tx, ...this.publishing }, org, id);
    else if (before !== null) await removeRecord(tx, org, resourceOf(type), id, JSON.parse(before));
    if (type === 'Transaction') await forgetTransaction(tx, org, id);
    return null;
  }

  /** Writes a record in place of what it was, unless a rule is against it; answers it as it is now. Both are JSON. */
  private async put(
    { type, id, line, values = {}, document }: PreparedLine,
    before: string | null,
    referred: ReadonlyMap<number, readonly number[]>,
  ): Promise<string | null> {
    const { tx, publishing, organization } = this;
    if (document !== undefined)
      return JSON.stringify(await storeDocument(tx, publishing, { ...document, organization }));
    const resource = resourceOf(type);
    const behaviour = behaviourOf(resource);
    const draft = draftOf(publishing, resource, organization, id, values);
    const { after } = draft;
    await behaviour.complete?.(tx, draft);
    publishing.problems.addAll(line, draft.problems);
    if (draft.problems.length > 0) return before;
    if (resource === patients) after.referredPatients = (referred.get(id) ?? []).map((of) => ({ id: of }));
    const replacement = this.group.replacements.get(id);
    if (type === 'Transaction' && replacement !== undefined) correct(after, replacement, publishing.now);
    const json = JSON.stringify(after);
    const earlier = before === null ? null : (JSON.parse(before) as JsonRecord);
    await putRecord(tx, this.org, resource, after, behaviour.ownValues?.(draft), earlier, json);
    await behaviour.indexed?.(tx, draft);
    if (resource === patients) await this.leaveReferrer(earlier, after);
    return json;
  }

  /**
   * Whom each patient of the group has referred when all lines are published: by what is staged, and by stored patients
   * that no line names.
   */
  private async referredPatients(): Promise<ReadonlyMap<number, readonly number[]>> {
    const { org, step, lines, referrals } = this.group;
    if (step !== STEPS.patients) return referrals;
    const ids = join(lines.map(({ id }) => id));
    const stored = await this.tx.all<{ id: number; referrer: number }>(sql`
      SELECT id, referred_by_patient_id AS referrer FROM patients
      WHERE org = ${this.org} AND referred_by_patient_id IN (${ids})`);
    const referring = stored.map(({ id }) => id);
    const named = await this.publishing.staged.named(org, patients.type, referring);
    const all = new Map(referrals);
    for (const { id, referrer } of stored.filter((row) => !named.has(row.id))) {
      const others = all.get(referrer) ?? [];
      all.set(referrer, [...others, id].sort(ascending));
    }
    return all;
  }

  /** A referrer whom a request has given a patient since the lines were staged has no line: their list is made now. */
  private async leaveReferrer(before: JsonRecord | null, after: JsonRecord): Promise<void> {
    const [was, is] = [before, after].map((record) => (record?.referredByPatient as Link | null | undefined)?.id);
    if (was === undefined || was === is) return;
    const planned = await this.publishing.staged.named(this.group.org, REFERRALS, [was]);
    if (!planned.has(was)) await this.refresh(was);
  }

  private async refresh(id: number): Promise<void> {
    const { tx, org, organization, tally } = this;
    await refreshReferred(tx, org, id, async (before, after) => {
      const at = this.publishing.now;
      await recordChange(tx, { organization, actor: undefined, resource: patients, before, after, at });
      tally.add(org, 'patients.update');
      tally.changed(org, id);
    });
  }

  /** Tells of a record that has changed, in the stream and in the tally. */
  private async tell({ type }: PreparedLine, before: string | null, after: string | null): Promise<void> {
    if (before === after) return;
    const { tx, org, organization, tally } = this;
    const resource = resourceOf(type);
    const [was, is] = [before, after].map((json) => (json === null ? undefined : (JSON.parse(json) as JsonRecord)));
    const change = { organization, actor: undefined, resource, before: was, after: is, at: this.publishing.now };
    await recordChange(tx, after === null ? change : { ...change, json: after });
    // A record that goes to another patient was the data of both.
    for (const record of [was, is]) {
      if (record !== undefined) tally.changed(org, await patientOf(tx, org, resource, record));
    }
    const verb = before === null ? 'create' : after === null ? 'delete' : 'update';
    tally.add(org, `${resource.name}.${verb}`);
  }
}

const ascending = (a: number, b: number) => a - b;

function resourceOf(type: string): Resource {
  return RESOURCE_BY_TYPE.get(type) as Resource;
}

/** The records of lines as they are stored, as JSON by `keyOf`. */
async function storedRecords(
  tx: Transaction,
  org: number,
  lines: readonly PreparedLine[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const type of new Set(lines.map((line) => line.type))) {
    const ids = join(lines.filter((line) => line.type === type).map(({ id }) => id));
    const rows = await tx.all<{ id: number; json: string }>(
      sql`SELECT r.id, r.json FROM ${tableOfKind(type, 'r')} AND r.org = ${org} AND r.id IN (${ids})`,
    );
    for (const { id, json } of rows) found.set(keyOf({ type, id }), json);
  }
  return found;
}

function keyOf({ type, id }: Pick<PreparedLine, 'type' | 'id'>): string {
  return `${type} ${id}`;
}
