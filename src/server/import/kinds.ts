import { STORED_RESOURCES } from '../../catalog/catalog.ts';
import type { Resource } from '../../catalog/define.ts';
import { isOrganizationId, list, object } from '../../catalog/fields/composites.ts';
import type { Fields } from '../../catalog/fields/kind.ts';
import { dollars } from '../../catalog/fields/numbers.ts';
import { choice, text } from '../../catalog/fields/text.ts';
import { dateTime } from '../../catalog/fields/times.ts';
import { optional, readOnly, required } from '../../catalog/record.ts';
import { ORGANIZATION_FIELDS, REFERENCES } from '../../catalog/resources/references.ts';
import { SCOPES } from '../../catalog/scopes.ts';

const organizationId = text({
  min: 1,
  max: 64,
  rule: (id) => (isOrganizationId(id) ? undefined : 'must be letters, digits, _ and - only.'),
});

/** Characters that a token or a secret must have: shorter ones can be guessed (contract §8). */
const MIN_SECRET = 16;

const GRANT: Fields = {
  organizations: required(list(organizationId), 'Organizations it is for'),
  scopes: required(list(choice(SCOPES)), 'Scopes'),
};

/** Kinds that belong to the installation rather than to one organization (contract §7). */
export const GLOBAL_KINDS: Readonly<Record<string, Fields>> = {
  AccessToken: {
    token: required(text({ min: MIN_SECRET, max: 500, rule: visible }), 'The token'),
    expiresAt: optional(dateTime(), 'When it stops working'),
    ...GRANT,
  },
  ApiClient: {
    clientId: required(text({ min: 1, max: 200 }), 'Client id'),
    clientSecret: required(text({ min: MIN_SECRET, max: 500 }), 'Client secret'),
    ...GRANT,
  },
};

/** What names a token or a client in the line that deletes it: one that is too short by now can still be deleted. */
export const GLOBAL_NAMES: Readonly<Record<string, Fields>> = {
  AccessToken: { token: required(text({ min: 1, max: 500, rule: visible }), 'The token') },
  ApiClient: { clientId: required(text({ min: 1, max: 200 }), 'Client id') },
};

function visible(token: string): string | undefined {
  return /^[\x21-\x7e]+$/.test(token) ? undefined : 'must be visible ASCII characters only.';
}

/** Fields in dollars that lines of these kinds have beside the wire fields (contract §7). */
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

/** What a line of a kind that belongs to an organization may have, beside type, organizationId, id and deleted. */
export interface RecordKind {
  readonly type: string;
  readonly fields: Fields;
  /** Its resource, undefined for kinds that are only linked to. */
  readonly resource: Resource | undefined;
  /** Fields that every record must have, even an imported one. */
  readonly needed: readonly string[];
}

const NEEDED: Readonly<Record<string, readonly string[]>> = {
  PatientV1: ['firstName', 'lastName'],
  DocumentV1: ['name', 'mimeType', 'file'],
  TransactionTagV1: ['tagText', 'tagType'],
  AppointmentV1: ['start', 'patient', 'provider', 'operatory'],
  Transaction: ['ledgerType', 'amount', 'transactionDate', 'patient'],
};

/** The resources that have a table of their own, by type. */
export const RESOURCE_BY_TYPE: ReadonlyMap<string, Resource> = new Map(
  STORED_RESOURCES.map((resource) => [resource.type, resource]),
);

/** Every kind that belongs to an organization, by type. */
export const RECORD_KINDS: ReadonlyMap<string, RecordKind> = new Map(
  [
    ...STORED_RESOURCES.map((resource): RecordKind => {
      const { type, fields } = resource;
      return { type, fields: { ...fields, ...EXTRAS[type] }, resource, needed: NEEDED[type] ?? [] };
    }),
    ...Object.entries<Fields>(REFERENCES).map(([type, fields]): RecordKind => {
      return {
        type,
        fields,
        resource: undefined,
        needed: Object.keys(fields).filter((name) => fields[name]?.required),
      };
    }),
  ].map((kind) => [kind.type, kind]),
);

/** The fields of an organization's own line. */
export const ORGANIZATION_KIND: Fields = { id: readOnly(organizationId, 'Organization id'), ...ORGANIZATION_FIELDS };

/** Every type name a line may have. */
export const ALL_TYPES = ['Organization', ...Object.keys(GLOBAL_KINDS), ...RECORD_KINDS.keys()];
