import { PracticeReader } from './practicereader.ts';
import {
  byKeys,
  cents,
  earlier,
  type Fields,
  idIn,
  isBooked,
  monthsBetween,
  numbersOf,
  paymentOf,
  type Row,
  sorted,
  textIn,
} from './records.ts';

/** Reports in plain JavaScript over records of the API, as the contract tells them: nothing here is code of the product. */
export class Oracle extends PracticeReader {
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
}
