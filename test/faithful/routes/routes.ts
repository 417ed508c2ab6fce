import type { Route } from '../call.ts';
import { AGING_ROUTES } from './aging.ts';
import { APPOINTMENT_ROUTES } from './appointments.ts';
import { DOCUMENT_ROUTES } from './documents.ts';
import { EVENT_ROUTES } from './events.ts';
import { HISTORY_ROUTES } from './histories.ts';
import { IMAGE_ROUTES } from './images.ts';
import { MISSED_ROUTES } from './missed.ts';
import { OPENING_ROUTES } from './openings.ts';
import { PATIENT_ROUTES } from './patients.ts';
import { PLAN_ROUTES } from './plans.ts';
import { PRODUCTION_ROUTES } from './production.ts';
import { REASON_ROUTES } from './reasons.ts';
import { TAG_ROUTES } from './tags.ts';
import { TRANSACTION_ROUTES } from './transactions.ts';

/** Every operation that the specification lists, and no other. */
export const ROUTES: readonly Route[] = [
  ...AGING_ROUTES,
  ...APPOINTMENT_ROUTES,
  ...DOCUMENT_ROUTES,
  ...EVENT_ROUTES,
  ...HISTORY_ROUTES,
  ...IMAGE_ROUTES,
  ...MISSED_ROUTES,
  ...OPENING_ROUTES,
  ...PATIENT_ROUTES,
  ...PLAN_ROUTES,
  ...PRODUCTION_ROUTES,
  ...REASON_ROUTES,
  ...TAG_ROUTES,
  ...TRANSACTION_ROUTES,
];
