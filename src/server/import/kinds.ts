import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { isOrganizationId, list, object } from '../../catalog/fields/composites.ts';
import { dollars } from '../../catalog/fields/numbers.ts';
import { choice, text } from '../../catalog/fields/text.ts';
import { dateTime } from '../../catalog/fields/times.ts';
import { type Fields, optional, readOnly, required } from '../../catalog/record.ts';
import { ORGANIZATION_FIELDS, REFERENCES } from '../../catalog/resources/references.ts';
import { SCOPES } from '../../catalog/scopes.ts';

const organizationId = text({
  min: 1,
  max: 64,
  rule: (id) => (isOrganizationId(id) ? undefined : 'must be letters, digits, _ and - only.'),
});

const GRANT: Fields = {
  organizations: required(list(organizationId), 'Organizations it is for'),
  scopes: required(list(choice(SCOPES)), 'Scopes'),
};

/** Kinds of the whole installation rather than of one organization (contract §7). */
export const GLOBAL_KINDS: Readonly<Record<string, Fields>> = {
  AccessToken: {
    token: required(text({ min: 1, max: 500, rule: visible }), 'The token'),
    expiresAt: optional(dateTime(), 'When it stops working'),
    ...GRANT,
  },
  ApiClient: {
    clientId: required(text({ min: 1, max: 200 }), 'Client id'),
    clientSecret: required(text({ min: 1, max: 500 }), 'Client secret'),
    ...GRANT,
  },
};

function visible(token: string): string | undefined {
  return /^[\x21-\x7e]+$/.test(token) ? undefined : 'must be visible ASCII characters only.';
}

/** Dollars that an import gives beside the wire fields, on these kinds only (contract §7). */
const EXTRAS: Readonly<Record<string, Fields>> = {
  AppointmentV1: {
    production: optional(
      object({ amount: optional(dollars(), 'Dollars'), writeOff: optional(dollars(), 'Dollars') }),
      'Scheduled production',
    ),
  },
  Transaction: {
    estimate: optional(
      object({ insurance: optional(dollars(), 'Dollars'), writeOff: optional(dollars(), 'Dollars') }),
      'Estimated insurance share and write-off of a charge',
    ),
  },
};

/** What a line of an organization's own kind may hold, beside type, organizationId, id and deleted. */
export interface RecordKind {
  readonly type: string;
  readonly fields: Fields;
  /** Its resource, undefined for kinds that only links know. */
  readonly resource: Resource | undefined;
  /** Fields that a record cannot do without, even one that comes from elsewhere. */
  readonly needed: readonly string[];
}

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  PatientV1: ['firstName', 'lastName'],
  DocumentV1: ['name', 'mimeType', 'file'],
  TransactionTagV1: ['tagText', 'tagType'],
  AppointmentV1: ['start', 'patient', 'provider', 'operatory'],
  Transaction: ['ledgerType', 'amount', 'transactionDate', 'patient'],
};

const kinds = new Map<string, RecordKind>();
for (const resource of STORED_RESOURCES) {
  const fields = { ...resource.fields, ...EXTRAS[resource.type] };
  kinds.set(resource.type, { type: resource.type, fields, resource, needed: NEEDED[resource.type] ?? [] });
}
for (const [type, fields] of Object.entries<Fields>(REFERENCES)) {
  const needed = Object.keys(fields).filter((name) => fields[name]?.required);
  kinds.set(type, { type, fields, resource: undefined, needed });
}

export const RECORD_KINDS: ReadonlyMap<string, RecordKind> = kinds;

export const ORGANIZATION_KIND: Fields = { id: readOnly(organizationId, 'Organization id'), ...ORGANIZATION_FIELDS };

/** Every type name a line may have. */
export const ALL_TYPES = ['Organization', ...Object.keys(GLOBAL_KINDS), ...kinds.keys()];
