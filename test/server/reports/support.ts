import type { Call, Called } from '../../support/calls.ts';
import type { TestService } from '../../support/service.ts';

export type Line = Readonly<Record<string, unknown>>;

/** An organization of its own for one test, in a service that other tests use too. */
export interface Practice {
  /** Its id. */
  readonly organization: string;
  /** Imports lines; `organizationId` is added. */
  import(lines: readonly Line[]): Promise<void>;
  /** GET with a filter. */
  get(path: string, filter: string, query?: Readonly<Record<string, string | number>>): Promise<Called>;
  call: Call;
}

let made = 0;

/** Makes an organization, America/Denver unless told otherwise, and a token for it. */
export async function newPractice(
  service: TestService,
  lines: readonly Line[],
  timezone = 'America/Denver',
): Promise<Practice> {
  const organization = `practice-${++made}`;
  const token = `token-of-practice-${made}`;
  const access = { token, organizations: [organization], scopes: ['model:read', 'model:write', 'practice:read'] };
  await service.import([
    { type: 'Organization', id: organization, timezone, createdDate: '2020-01-01' },
    { type: 'AccessToken', ...access },
    ...lines.map((line) => ({ ...line, organizationId: organization })),
  ]);
  const call: Call = (method, path, options) => service.call(method, path, { token, organization, ...options });
  return {
    organization,
    call,
    get: (path, filter, query) => call('GET', path, { query: { ...query, filter } }),
    async import(more) {
      await service.import(more.map((line) => ({ ...line, organizationId: organization })));
    },
  };
}

/** Sets how many transactions a page of the aging report searches, as `--aging-page-limit` does. */
export function setAgingPageLimit(service: TestService, limit: number): void {
  Object.assign(service.service, { agingPageLimit: limit });
}

export function location(id: number, timezone?: string): Line {
  return { type: 'Location', id, name: `Location ${id}`, ...(timezone !== undefined && { timezone }) };
}

export function patient(id: number, guarantor = id): Line {
  return { type: 'PatientV1', id, firstName: `First${id}`, lastName: `Last${id}`, primaryGuarantor: { id: guarantor } };
}

/** Calendar date and time of an instant in a zone, by Intl: `2026-03-08 01:30`. */
export function wallTextIn(zone: string): (instant: number) => string {
  const format = new Intl.DateTimeFormat('en-CA', {
    timeZone: zone,
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  return (instant) => format.format(instant).replace(', ', ' ');
}
