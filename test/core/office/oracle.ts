// Reports in plain JavaScript over records of the API, as the contract tells them: nothing here is code of the product.

/** A record of the API, or a part of one. */
export type Fields = Readonly<Record<string, unknown>>;

/** All records of a practice. */
export interface Records {
  readonly patients: readonly Fields[];
  readonly appointments: readonly Fields[];
  readonly missedappointments: readonly Fields[];
  readonly transactions: readonly Fields[];
  readonly transactiontags: readonly Fields[];
  readonly documents: readonly Fields[];
  /** Transactions that the server no longer has, as they were last; none where no history is kept. */
  readonly vanished: readonly Fields[];
  /** Transactions as they were first, by id; none where no history is kept. */
  readonly first: ReadonlyMap<string, Fields>;
}

/** What a report is asked. */
export interface Asked {
  readonly today: string;
  readonly now: string;
  readonly locations: readonly string[] | null;
  /** The zone of a location by its id; of no location: of `null`. */
  readonly zoneOf: (location: string | null) => string;
}

/** Rows by the names of columns; ids as text, money in cents. */
export type Row = Record<string, string | number | boolean | null>;

const idIn = (link: unknown): string | null => {
  const id = (link as { id?: unknown } | null | undefined)?.id;
  return id === undefined || id === null ? null : String(id);
};
const textIn = (value: unknown) => (value === undefined ? null : (value as string | null));
const cents = (dollars: unknown) => Math.round(Number(dollars) * 100);
const isBooked = ({ status }: Fields) => !['BROKEN', 'NO_SHOW', 'CANCELLEDBYOFFICE'].includes(String(status));

const formats = new Map<string, Intl.DateTimeFormat>();

/** The local date of an instant. */
export function dateIn(zone: string, instant: string): string {
  const known = formats.get(zone);
  const parts = { year: 'numeric', month: '2-digit', day: '2-digit' } as const;
  const format = known ?? new Intl.DateTimeFormat('sv-SE', { timeZone: zone, ...parts });
  formats.set(zone, format);
  return format.format(new Date(instant));
}

/** Whole months from a date to another, by counting. */
function monthsBetween(date: string, today: string): number {
  let months = 0;
  while (earlier(today, months + 1) >= date) months++;
  return months;
}

/** The date so many months earlier; the last of the month where it has no such day. */
export function earlier(date: string, months: number): string {
  let [year, month] = date.split('-').map(Number) as [number, number];
  for (let left = months; left > 0; left--) {
    month--;
    if (month === 0) [year, month] = [year - 1, 12];
  }
  for (let day = Number(date.slice(8)); ; day--) {
    const text = `${year}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`;
    if (new Date(`${text}T00:00:00Z`).getUTCDate() === day) return text;
  }
}

const KINDS = ['MOBILE', 'HOME', 'WORK'];

/** Answers what reports are asked of some records. */
export class Oracle {
  private readonly byId: ReadonlyMap<string, Fields>;

  constructor(
    private readonly records: Records,
    private readonly asked: Asked,
  ) {
    this.byId = new Map(records.patients.map((patient) => [String(patient.id), patient]));
  }

  schedule({ from, to, by, allStatuses }: { from: string; to: string; by: string; allStatuses: boolean }): Row[] {
    const rows = this.here(this.records.appointments)
      .filter((one) => allStatuses || isBooked(one))
      .map((one) => ({
        ...this.appointment(one),
        end: textIn(one.end),
        'operatory.id': idIn(one.operatory),
        'provider.id': idIn(one.provider),
        'patient.dateOfBirth': textIn(this.byId.get(idIn(one.patient) ?? '')?.dateOfBirth),
      }));
    const chosen = rows.filter(({ date }) => from <= date && date <= to);
    return sorted(chosen, ['date', 'location.id', `${by}.id`, 'start'], 'id');
  }

  callList({ from, to, statuses }: { from: string; to: string; statuses: readonly string[] }): Row[] {
    const rows = this.here(this.records.appointments)
      .filter(({ status }) => statuses.includes(String(status)))
      .map((one) => ({
        ...this.appointment(one),
        'provider.id': idIn(one.provider),
        ...this.ofPatient(one, ['preferredName', 'languageType', 'contactMethod']),
        emailAddress: this.emailOf(one),
      }));
    const chosen = rows.filter(({ date }) => from <= date && date <= to);
    return sorted(chosen, ['start', 'patient.lastName', 'patient.firstName'], 'id');
  }

  recall(options: { months: number; includeNeverSeen: boolean; patientStatuses: readonly string[] }): Row[] {
    const { today } = this.asked;
    const rows = this.current(options.patientStatuses).flatMap((patient): Row[] => {
      const seen = this.lastVisit(patient);
      const isDue = seen === null ? options.includeNeverSeen : seen <= earlier(today, options.months);
      const isExpected = this.records.appointments.some(
        (one) => idIn(one.patient) === String(patient.id) && isBooked(one) && this.dayOf(one, 'start') >= today,
      );
      if (!isDue || isExpected) return [];
      return [
        {
          ...this.person(patient),
          'patient.chartNumber': textIn(patient.chartNumber),
          'patient.dateOfBirth': textIn(patient.dateOfBirth),
          lastVisitDate: seen,
          monthsSince: seen === null ? null : monthsBetween(seen, today),
          contactMethod: textIn(patient.contactMethod),
        },
      ];
    });
    return sorted(rows, ['lastVisitDate', 'patient.lastName', 'patient.firstName'], 'patient.id');
  }

  noShows(options: { from: string; to: string; statuses: readonly string[]; includeRebooked: boolean }): Row[] {
    const rows = this.here(this.records.missedappointments)
      .filter((one) => options.statuses.includes(String(one.status)))
      .filter((one) => options.from <= this.dayOf(one, 'start') && this.dayOf(one, 'start') <= options.to)
      .filter((one) => {
        const later = this.records.appointments.some(
          (other) =>
            idIn(one.patient) !== null &&
            idIn(other.patient) === idIn(one.patient) &&
            isBooked(other) &&
            Date.parse(String(other.start)) > Date.parse(String(one.start)),
        );
        return options.includeRebooked || ((one.rescheduledOn ?? null) === null && !later);
      })
      .map((one) => ({
        start: textIn(one.start),
        status: textIn(one.status),
        duration: one.duration as number,
        ...this.ofPatient(one, []),
        ...this.phones(idIn(one.patient)),
        emailAddress: this.emailOf(one),
        'provider.id': idIn(one.provider),
        'operatory.id': idIn(one.operatory),
        'location.id': idIn(one.location),
        procedures: textIn(one.procedures),
        reasonCancelled: textIn(one.reasonCancelled),
        cancelledOn: textIn(one.cancelledOn),
        rescheduledOn: textIn(one.rescheduledOn),
        'appointment.id': idIn(one.appointment),
        id: String(one.id),
      }));
    return sorted(rows, ['-start'], 'id');
  }

  daySheet({ from, to, byEntry }: { from: string; to: string; byEntry: boolean }): Row[] {
    const rows = this.here(this.records.transactions)
      .filter(({ isActive }) => isActive === true)
      .filter((one) => {
        const day = byEntry ? this.dayOf(one, 'entryDate') : String(one.transactionDate);
        return from <= day && day <= to;
      })
      .map((one) => ({
        ...this.entry(one),
        entryDate: textIn(one.entryDate),
        amountCents: cents(one.amount),
        'patientPaymentBilling.checkNumber': paymentOf(one, 'checkNumber'),
        'previousTransaction.id': idIn(one.previousTransaction),
      }));
    return sorted(rows, ['location.id', 'entryDate'], 'id');
  }

  deposits({ from, to }: { from: string; to: string }): Row[] {
    const kinds = ['PatientProcedurePayment', 'InsurancePayment', 'PatientCreditCardRefund', 'PatientCreditCardVoid'];
    const rows = this.here(this.records.transactions)
      .filter(({ isActive }) => isActive === true)
      .filter(({ ledgerType }) => [...kinds, 'InsuranceRefundAdjustment'].includes(String(ledgerType)))
      .filter((one) => from <= String(one.transactionDate) && String(one.transactionDate) <= to)
      .map((one) => ({
        ...this.entry(one),
        depositCents: 0 - cents(one.amount),
        'patientPaymentBilling.checkNumber': paymentOf(one, 'checkNumber'),
        'patientPaymentBilling.bankNumber': paymentOf(one, 'bankNumber'),
        'patientPaymentBilling.referenceNumber': paymentOf(one, 'referenceNumber'),
      }));
    return sorted(rows, ['transactionDate', 'location.id', 'ledgerType'], 'id');
  }

  adjustments({ from, to }: { from: string; to: string }): Row[] {
    const vanished = new Set(this.records.vanished);
    const rows = this.here([...this.records.transactions, ...vanished])
      .filter(({ ledgerType }) => /^Patient(Charge|Credit)Adjustment$/.test(String(ledgerType)))
      .filter((one) => from <= String(one.transactionDate) && String(one.transactionDate) <= to)
      .map((one) => {
        const first = this.records.first.get(String(one.id)) ?? one;
        const facts = (of: Fields) => [
          [cents(of.amount), of.transactionDate, of.note ?? null],
          [idIn(of.patient), idIn(of.location), idIn(of.provider)],
        ];
        const isChanged = JSON.stringify(facts(first)) !== JSON.stringify(facts(one));
        const change = vanished.has(one) ? 'vanished' : !one.isActive ? 'cancelled' : isChanged ? 'changed' : null;
        return {
          ...this.entry(one),
          entryDate: textIn(one.entryDate),
          amountCents: cents(one.amount),
          tags: this.tagsOf(one),
          isAutomaticallyPosted: one.isAutomaticallyPosted as boolean,
          change,
          amountBeforeCents: change === 'changed' ? cents(first.amount) : null,
        };
      });
    return sorted(rows, ['transactionDate'], 'id');
  }

  birthdays({ from, to, patientStatuses }: { from: string; to: string; patientStatuses: readonly string[] }): Row[] {
    const rows: Row[] = [];
    for (const patient of this.current(patientStatuses)) {
      const [year, month, day] = String(patient.dateOfBirth).split('-') as [string, string, string];
      for (let at = new Date(`${from}T00:00:00Z`); ; at = new Date(at.getTime() + 86_400_000)) {
        const birthday = at.toISOString().slice(0, 10);
        if (birthday > to) break;
        const isLeap = new Date(Date.UTC(at.getUTCFullYear(), 1, 29)).getUTCMonth() === 1;
        const wanted = month === '02' && day === '29' && !isLeap ? '02-28' : `${month}-${day}`;
        const turns = at.getUTCFullYear() - Number(year);
        if (birthday.slice(5) !== wanted || turns < 1) continue;
        const own = {
          'patient.preferredName': textIn(patient.preferredName),
          'patient.dateOfBirth': patient.dateOfBirth,
        };
        rows.push({ birthday, turns, ...this.person(patient), ...(own as Row) });
      }
    }
    return sorted(rows, ['birthday', 'patient.lastName', 'patient.firstName'], 'patient.id');
  }

  missingContacts({
    require,
    patientStatuses,
  }: {
    require: readonly string[];
    patientStatuses: readonly string[];
  }): Row[] {
    const rows = this.current(patientStatuses).flatMap((patient): Row[] => {
      const lacks = { phone: numbersOf(patient).length === 0, email: (patient.emailAddress ?? '') === '' };
      const missing = (['phone', 'email'] as const).filter((what) => require.includes(what) && lacks[what]).join(';');
      const { chartNumber, contactMethod } = patient;
      const own = { 'patient.chartNumber': textIn(chartNumber), contactMethod: textIn(contactMethod) };
      return missing === '' ? [] : [{ ...this.person(patient), ...own, missing }];
    });
    return sorted(rows, ['patient.lastName', 'patient.firstName'], 'patient.id');
  }

  missingDocuments(options: {
    tags: readonly string[];
    since: string | null;
    patientStatuses: readonly string[];
  }): Row[] {
    const rows = this.current(options.patientStatuses).flatMap((patient): Row[] => {
      const own = this.records.documents.filter(({ ownerPatient }) => idIn(ownerPatient) === String(patient.id));
      const { since } = options;
      const recent = own.filter(
        ({ userDefinedDate }) => since === null || (typeof userDefinedDate === 'string' && userDefinedDate >= since),
      );
      // Both ways: some letters have two lower cases, others none of their own.
      const same = (a: string, b: string) => a.toLowerCase() === b.toLowerCase() || a.toUpperCase() === b.toUpperCase();
      const has = (tag: string) => recent.some(({ tags }) => (tags as string[]).some((one) => same(one, tag)));
      const missing = options.tags.filter((tag) => !has(tag)).join(';');
      const {
        phone: _1,
        phone_2: _2,
        phone_3: _3,
        'phoneOf.id': _4,
        emailAddress: _5,
        ...person
      } = this.person(patient);
      if (missing === '') return [];
      return [{ ...person, 'patient.chartNumber': textIn(patient.chartNumber), missing, documents: own.length }];
    });
    return sorted(rows, ['patient.lastName', 'patient.firstName'], 'patient.id');
  }

  /** What collections adds to guarantors. */
  guarantors(ids: readonly string[]): Row[] {
    const rows = ids.flatMap((id): Row[] => {
      const patient = this.byId.get(id);
      if (patient === undefined) return [];
      const family = this.records.patients.filter(({ primaryGuarantor }) => idIn(primaryGuarantor) === id);
      const members = new Set(family.map((member) => String(member.id)));
      const ofFamily = (one: Fields) => members.has(idIn(one.patient) ?? '');
      const payments = this.records.transactions
        .filter((one) => ofFamily(one) && one.isActive === true && one.ledgerType === 'PatientProcedurePayment')
        .toSorted(byKeys(({ transactionDate }) => String(transactionDate)));
      const visits = this.records.appointments
        .filter((one) => ofFamily(one) && isBooked(one) && Date.parse(String(one.start)) >= Date.parse(this.asked.now))
        .toSorted(byKeys(({ start }) => String(start)));
      const [payment, visit] = [payments.at(-1), visits[0]];
      const { 'location.id': _, ...person } = this.person(patient);
      return [
        {
          ...person,
          lastPaymentDate: payment === undefined ? null : textIn(payment.transactionDate),
          lastPaymentCents: payment === undefined ? null : Math.abs(cents(payment.amount)),
          nextVisit: visit === undefined ? null : textIn(visit.start),
          'nextVisitPatient.id': visit === undefined ? null : idIn(visit.patient),
        },
      ];
    });
    return sorted(rows, [], 'patient.id');
  }

  /** The latest of completed visits and procedures; null for none. */
  lastVisit({ id }: Fields): string | null {
    const visits = this.records.appointments
      .filter((one) => idIn(one.patient) === String(id) && ['COMPLETED', 'CHECKOUT'].includes(String(one.status)))
      .map((one) => this.dayOf(one, 'start'));
    const procedures = this.records.transactions
      .filter((one) => idIn(one.patient) === String(id) && one.ledgerType === 'PatientProcedureLedger' && one.isActive)
      .map(({ transactionDate }) => String(transactionDate));
    return [...visits, ...procedures].sort().at(-1) ?? null;
  }

  private here(records: readonly Fields[]): readonly Fields[] {
    const { locations } = this.asked;
    return records.filter(({ location }) => locations === null || locations.includes(idIn(location) ?? 'none'));
  }

  private current(statuses: readonly string[]): readonly Fields[] {
    const { locations } = this.asked;
    return this.records.patients
      .filter(({ patientStatus }) => statuses.includes(String(patientStatus)))
      .filter(({ preferredLocation }) => locations === null || locations.includes(idIn(preferredLocation) ?? 'none'));
  }

  private dayOf(record: Fields, field: string): string {
    return dateIn(this.asked.zoneOf(idIn(record.location)), String(record[field]));
  }

  private appointment(one: Fields) {
    return {
      date: this.dayOf(one, 'start'),
      start: textIn(one.start),
      duration: one.duration as number,
      'location.id': idIn(one.location),
      ...this.ofPatient(one, []),
      ...this.phones(idIn(one.patient)),
      status: textIn(one.status),
      note: textIn(one.note),
      id: String(one.id),
    };
  }

  private entry(one: Fields) {
    return {
      id: String(one.id),
      transactionDate: textIn(one.transactionDate),
      ledgerType: textIn(one.ledgerType),
      ...this.ofPatient(one, []),
      'location.id': idIn(one.location),
      'provider.id': idIn(one.provider),
      note: textIn(one.note),
    };
  }

  private ofPatient({ patient }: Fields, fields: readonly string[]): Row {
    const found = this.byId.get(idIn(patient) ?? '');
    const named = ['firstName', 'lastName', ...fields].map((name) => [`patient.${name}`, textIn(found?.[name])]);
    return { 'patient.id': idIn(patient), ...Object.fromEntries(named) };
  }

  private person(patient: Fields): Row {
    return {
      ...this.ofPatient({ patient }, []),
      'location.id': idIn(patient.preferredLocation),
      ...this.phones(String(patient.id)),
      emailAddress: textIn(patient.emailAddress),
    };
  }

  private emailOf({ patient }: Fields): string | null {
    return textIn(this.byId.get(idIn(patient) ?? '')?.emailAddress);
  }

  private phones(id: string | null): Row {
    const patient = this.byId.get(id ?? '');
    const others = [idIn(patient?.primaryContact), idIn(patient?.primaryGuarantor)];
    const owner = [id, ...others].find((one) => numbersOf(this.byId.get(one ?? '')).length > 0);
    const numbers = owner === undefined ? [] : numbersOf(this.byId.get(owner ?? ''));
    const [phone = null, phone_2 = null, phone_3 = null] = numbers;
    return { phone, phone_2, phone_3, 'phoneOf.id': owner ?? id };
  }

  private tagsOf({ transactionTags }: Fields): string | null {
    const texts = new Map(this.records.transactiontags.map(({ id, tagText }) => [String(id), String(tagText)]));
    const tags = Object.entries((transactionTags ?? {}) as Record<string, unknown>)
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .flatMap(([, tag]) => texts.get(idIn(tag) ?? '') ?? []);
    return tags.length === 0 ? null : tags.join('; ');
  }
}

function paymentOf({ patientPaymentBilling }: Fields, field: string): string | null {
  return textIn((patientPaymentBilling as Fields | null | undefined)?.[field]);
}

/** The numbers of a patient's own phones, in the order in which they are called. */
function numbersOf(patient: Fields | undefined): string[] {
  const phones = (patient?.phones ?? []) as {
    phoneType: string;
    number: string;
    sequence: number | null;
    id: number;
  }[];
  const rank = (kind: string) => (KINDS.includes(kind) ? KINDS.indexOf(kind) : KINDS.length);
  return phones
    .filter(({ phoneType, number }) => phoneType !== 'FAX' && /[0-9]/.test(number))
    .toSorted(
      (a, b) =>
        rank(a.phoneType) - rank(b.phoneType) ||
        (a.sequence ?? 1e9) - (b.sequence ?? 1e9) ||
        Number(a.id) - Number(b.id),
    )
    .map(({ number }) => number);
}

/** By a text, then by id. */
function byKeys(keyOf: (record: Fields) => string) {
  return (a: Fields, b: Fields) => {
    const [left, right] = [keyOf(a), keyOf(b)];
    if (left !== right) return left < right ? -1 : 1;
    return BigInt(String(a.id)) < BigInt(String(b.id)) ? -1 : 1;
  };
}

/** Rows in order: no value last, ids by number, text in any letter case first; ties by id. */
function sorted(rows: readonly Row[], keys: readonly string[], tie: string): Row[] {
  return rows.toSorted((a, b) => {
    for (const key of [...keys, tie]) {
      const name = key.replace('-', '');
      const [left, right] = [a[name] ?? null, b[name] ?? null];
      if (left === null && right === null) continue;
      if (left === null || right === null) return left === null ? 1 : -1;
      const order = name.endsWith('id')
        ? compare(BigInt(String(left)), BigInt(String(right)))
        : compareTexts(left, right);
      if (order !== 0) return key.startsWith('-') ? -order : order;
    }
    return 0;
  });
}

function compareTexts(a: unknown, b: unknown): number {
  return compare(String(a).toLowerCase(), String(b).toLowerCase()) || compare(String(a), String(b));
}

function compare<T extends string | bigint>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
