/** Made-up names of people. */
export const FIRST_NAMES = [
  'Ada',
  'Bruno',
  'Chidi',
  'Dara',
  'Élise',
  'Farid',
  'Greta',
  'Hiro',
  'Imani',
  'João',
  'Kit',
  'Lena',
];

export const LAST_NAMES = [
  'Ashdown',
  'Brightwater',
  "O'Field",
  'Carrow',
  'Dunmore',
  'Ågren',
  'Vega, Jr',
  'Holloway',
  'Smithson',
];

export const CITIES = ['Exampleton', 'Sampleburg', 'Testville'];

export const TITLES = ['Staff meeting', 'Closed', 'Equipment service', 'Lunch', 'Training, advanced', 'Inventory'];

export const LEDGER_TYPES = [
  'PatientChargeAdjustment',
  'PatientCreditAdjustment',
  'InsuranceRefundAdjustment',
  'PatientCreditCardRefund',
  'PatientCreditCardVoid',
  'PatientProcedureLedger',
  'InsurancePayment',
  'PatientProcedurePayment',
] as const;

export const PATIENT_STATUSES = [
  'NEW',
  'ACTIVE',
  'NON-PATIENT',
  'INACTIVE',
  'DUPLICATE',
  'DISMISSED',
  'DECEASED',
] as const;

export const APPOINTMENT_STATUSES = [
  'LATE',
  'HERE',
  'READY',
  'CHAIR',
  'COMPLETED',
  'CONFIRMED',
  'UNCONFIRMED',
  'NO_SHOW',
  'BROKEN',
  'LEFT_MESSAGE',
  'CHECKOUT',
  'WILL_CALL',
  'UNREACHABLE',
  'CANCELLEDBYOFFICE',
] as const;

export const DAYS = ['SUNDAY', 'MONDAY', 'TUESDAY', 'WEDNESDAY', 'THURSDAY', 'FRIDAY', 'SATURDAY'] as const;
export const WEEKS = ['FIRST', 'SECOND', 'THIRD', 'FOURTH', 'LAST'] as const;
export const BOOKING_TYPES = ['TREATMENT', 'RECARE', 'NEW_PATIENT', 'EXISTING_PATIENT'] as const;
