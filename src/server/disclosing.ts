import type { OperationRequest } from './service.ts';

/** Says what the answer to a request will hold: the records of the operation's own kind, and whose data they are. */
export function disclose(request: OperationRequest, ids: readonly number[], patients: readonly number[]): void {
  Object.assign(request.found, { count: ids.length, ids, patients });
}

/** As `disclose`, of rows that were read with their patients. */
export function discloseRows(
  request: OperationRequest,
  rows: readonly { readonly id: number; readonly patient?: number | null }[],
): void {
  const patients = rows.map(({ patient }) => patient ?? null).filter((patient) => patient !== null);
  disclose(
    request,
    rows.map(({ id }) => id),
    patients,
  );
}
