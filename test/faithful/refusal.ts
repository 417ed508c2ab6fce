/**
 * Why a request has no success. A `violation` means that the request itself is not one the specification lists; other
 * refusals are answers that a faithful client must expect, such as a record that is gone.
 */
export class Refusal extends Error {
  readonly status: number;
  readonly violation: boolean;

  constructor(status: number, description: string, violation: boolean) {
    super(description);
    this.status = status;
    this.violation = violation;
  }
}

/** The request does not keep the specification. */
export function refuse(description: string, status = 400): never {
  throw new Refusal(status, description, true);
}

/** The request keeps the specification and still has no success. */
export function decline(status: number, description: string): never {
  throw new Refusal(status, description, false);
}
