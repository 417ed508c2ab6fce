import { isDeepStrictEqual } from 'node:util';
import sql from 'sql-template-tag';
import { operationOf } from '../../catalog/catalog.ts';
import type { Link } from '../../catalog/fields/composites.ts';
import { type Phone, patients } from '../../catalog/resources/patients.ts';
import { nowOf } from '../clock.ts';
import { recordChange } from '../engine/writing.ts';
import { followGuarantor } from '../reports/aging/ledger.ts';
import type { JsonRecord } from '../store/layout.ts';
import { findRecord, putRecord } from '../store/records.ts';
import type { Reader, Transaction } from '../store/store.ts';
import type { Behaviour, Draft } from './behaviour.ts';
import { billingTypesListHandler, billingTypesSetHandler } from './billingtypes.ts';
import { calculatedHandler } from './lastvisits.ts';

/** Patients (specification, Patient; D20–D22). */
export const patientBehaviour: Behaviour = {
  resource: patients,
  check(draft) {
    checkDiscount(draft);
    checkPhones(draft);
  },
  async complete(_read: Reader, draft: Draft) {
    // No guarantor given: the patient is their own (D20).
    draft.after.primaryGuarantor ??= { id: draft.after.id };
    draft.after.phones = completePhones(phonesOf(draft.after), phonesOf(draft.before));
  },
  indexed: followGuarantor,
  stored: followReferral,
  handlers: {
    [operationOf(patients, 'calculated').id]: calculatedHandler,
    [operationOf(patients, 'billingtypesList').id]: billingTypesListHandler,
    [operationOf(patients, 'billingtypesSet').id]: billingTypesSetHandler,
  },
};

function checkDiscount({ after, problems }: Draft): void {
  const needed: Readonly<Record<string, readonly string[]>> = {
    BASIC: ['discountPlan'],
    SLIDING_FEES: ['income', 'familySize'],
  };
  const discountType = typeof after.discountType === 'string' ? after.discountType : '';
  for (const name of needed[discountType] ?? []) {
    if (after[name] !== null && after[name] !== undefined) continue;
    problems.push({
      code: 'field.missing',
      source: name,
      description: `discountType ${discountType} requires ${name}.`,
    });
  }
}

function checkPhones({ after, problems }: Draft): void {
  const seen = new Set<string>();
  for (const [index, phone] of phonesOf(after).entries()) {
    if (phone.sequence === null || phone.sequence === undefined) continue;
    const place = `${phone.phoneType} ${phone.sequence}`;
    if (seen.has(place)) {
      const description = `phones[${index}].sequence: ${phone.phoneType} has sequence ${phone.sequence} twice.`;
      problems.push({ code: 'field.duplicate', source: `phones[${index}].sequence`, description });
    }
    seen.add(place);
  }
}

function phonesOf(record: JsonRecord | undefined): readonly Phone[] {
  return (record?.phones as readonly Phone[] | undefined) ?? [];
}

/** Gives every phone an id of its own and a sequence free within its type; known ids stay. */
function completePhones(sent: readonly Phone[], before: readonly Phone[]): Phone[] {
  const phones = recognized(sent, before);
  const known = new Set(before.map((phone) => phone.id));
  const imported = before.length === 0;
  const taken = new Set<number | null>();
  let nextId =
    Math.max(0, ...before.map((phone) => phone.id ?? 0), ...(imported ? phones.map((phone) => phone.id ?? 0) : [])) + 1;
  return phones.map((phone) => {
    const keeps = phone.id != null && (known.has(phone.id) || imported) && !taken.has(phone.id);
    const id = keeps ? phone.id : nextId++;
    taken.add(id);
    return {
      id,
      phoneType: phone.phoneType,
      number: phone.number,
      extension: phone.extension ?? null,
      sequence: phone.sequence ?? freeSequence(phones, phone),
    };
  });
}

/** Phones sent without an id that the patient has already get the id they have, so that sending them again changes nothing (D44). */
function recognized(sent: readonly Phone[], before: readonly Phone[]): readonly Phone[] {
  const free = before.filter((phone) => sent.every((other) => other.id !== phone.id));
  return sent.map((phone) => {
    if (phone.id != null) return phone;
    const at = free.findIndex(
      (known) =>
        known.phoneType === phone.phoneType &&
        known.number === phone.number &&
        known.extension === (phone.extension ?? null),
    );
    const [found] = at < 0 ? [] : free.splice(at, 1);
    return found === undefined ? phone : { ...phone, id: found.id };
  });
}

/** The lowest sequence from 1 on that no phone of the type was given; unnumbered ones take turns. */
function freeSequence(phones: readonly Phone[], phone: Phone): number {
  const same = phones.filter((other) => other.phoneType === phone.phoneType);
  const given = new Set(same.map((other) => other.sequence).filter((sequence) => sequence != null));
  let turn = same.filter((other) => other.sequence == null).indexOf(phone);
  for (let sequence = 1; ; sequence++) {
    if (!given.has(sequence) && turn-- === 0) return sequence;
  }
}

/** Keeps `referredPatients` of the referring patients true when a referral changes; true when it is that of the patient. */
async function followReferral(tx: Transaction, draft: Draft): Promise<boolean> {
  const before = (draft.before?.referredByPatient as Link | null | undefined)?.id;
  const after = (draft.after.referredByPatient as Link | null)?.id;
  if (before === after) return false;
  const { organization, actor, service } = draft;
  const changed = (was: JsonRecord, is: JsonRecord) =>
    recordChange(tx, { organization, actor, resource: patients, before: was, after: is, at: nowOf(service) });
  for (const referrer of [before, after]) {
    if (referrer === undefined) continue;
    const referred = await refreshReferred(tx, organization.org, referrer, changed);
    if (referrer === draft.after.id) draft.after.referredPatients = referred;
  }
  return before === draft.after.id || after === draft.after.id;
}

/**
 * Rewrites `referredPatients` of one patient, wherever they are, from the referrals that name them, and tells of the
 * change; answers them.
 */
export async function refreshReferred(
  tx: Transaction,
  org: number,
  referrer: number,
  changed: (before: JsonRecord, after: JsonRecord) => Promise<void>,
): Promise<readonly Link[]> {
  const row = await findRecord(tx, { org }, patients, referrer);
  if (row === undefined) return [];
  const referred = await tx.all<Link>(
    sql`SELECT id FROM patients WHERE org = ${org} AND referred_by_patient_id = ${referrer} ORDER BY id`,
  );
  const record = JSON.parse(row.json) as JsonRecord & { id: number };
  const referredPatients = referred.map(({ id }) => ({ id }));
  if (isDeepStrictEqual(record.referredPatients, referredPatients)) return referredPatients;
  const after = { ...record, referredPatients };
  await putRecord(tx, org, patients, after, {}, record);
  await changed(record, after);
  return referredPatients;
}
