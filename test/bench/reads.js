// Requests of reads, which go over all of a practice.
import { FIRST } from './practice.js';
import { requestText } from './served.js';

/** Different requests of a kind. */
const REQUESTS = 512;

export const many = (make) => Array.from({ length: REQUESTS }, (_, index) => make(index));

/** Requests of whole pages of a size, or of one record: no two in a row are of the same part of the records. */
export function reads(patients, headers, path, size = 1) {
  const at = (index) => Math.floor((((index * 197) % REQUESTS) / REQUESTS) * (patients - size));
  return many((index) => requestText('GET', path(at(index)), headers));
}

export const listPath = (size) => (at) => `/api/v1/patients?pageSize=${size}&lastId=${FIRST.patient + at}`;
export const getPath = (at) => `/api/v1/patients/${FIRST.patient + at}`;
