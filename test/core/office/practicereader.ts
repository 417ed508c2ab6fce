import { type Asked, dateIn, type Fields, idIn, numbersOf, type Records, type Row, textIn } from './records.ts';

/** What reports have in common: days, phones, families, locations, as the contract tells them. */
export class PracticeReader {
  protected readonly byId: ReadonlyMap<string, Fields>;

  constructor(
    protected readonly records: Records,
    protected readonly asked: Asked,
  ) {
    this.byId = new Map(records.patients.map((patient) => [String(patient.id), patient]));
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

  protected here(records: readonly Fields[]): readonly Fields[] {
    const { locations } = this.asked;
    return records.filter(({ location }) => locations === null || locations.includes(idIn(location) ?? 'none'));
  }

  protected current(statuses: readonly string[]): readonly Fields[] {
    const { locations } = this.asked;
    return this.records.patients
      .filter(({ patientStatus }) => statuses.includes(String(patientStatus)))
      .filter(({ preferredLocation }) => locations === null || locations.includes(idIn(preferredLocation) ?? 'none'));
  }

  protected dayOf(record: Fields, field: string): string {
    return dateIn(this.asked.zoneOf(idIn(record.location)), String(record[field]));
  }

  protected appointment(one: Fields) {
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

  protected entry(one: Fields) {
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

  protected ofPatient({ patient }: Fields, fields: readonly string[]): Row {
    const found = this.byId.get(idIn(patient) ?? '');
    const named = ['firstName', 'lastName', ...fields].map((name) => [`patient.${name}`, textIn(found?.[name])]);
    return { 'patient.id': idIn(patient), ...Object.fromEntries(named) };
  }

  protected person(patient: Fields): Row {
    return {
      ...this.ofPatient({ patient }, []),
      'location.id': idIn(patient.preferredLocation),
      ...this.phones(String(patient.id)),
      emailAddress: textIn(patient.emailAddress),
    };
  }

  protected emailOf({ patient }: Fields): string | null {
    return textIn(this.byId.get(idIn(patient) ?? '')?.emailAddress);
  }

  protected phones(id: string | null): Row {
    const patient = this.byId.get(id ?? '');
    const others = [idIn(patient?.primaryContact), idIn(patient?.primaryGuarantor)];
    const owner = [id, ...others].find((one) => numbersOf(this.byId.get(one ?? '')).length > 0);
    const numbers = owner === undefined ? [] : numbersOf(this.byId.get(owner ?? ''));
    const [phone = null, phone_2 = null, phone_3 = null] = numbers;
    return { phone, phone_2, phone_3, 'phoneOf.id': owner ?? id };
  }

  protected tagsOf({ transactionTags }: Fields): string | null {
    const texts = new Map(this.records.transactiontags.map(({ id, tagText }) => [String(id), String(tagText)]));
    const tags = Object.entries((transactionTags ?? {}) as Record<string, unknown>)
      .toSorted(([a], [b]) => Number(a) - Number(b))
      .flatMap(([, tag]) => texts.get(idIn(tag) ?? '') ?? []);
    return tags.length === 0 ? null : tags.join('; ');
  }
}
