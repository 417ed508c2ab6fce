import type { Resource } from '../../catalog/define.ts';
import type { Organization } from '../organizations.ts';
import type { JsonRecord } from '../store/layout.ts';

/** One change of one record: `before` is undefined for a new one, `after` for one that is deleted. */
export interface Change {
  readonly organization: Pick<Organization, 'org' | 'id'>;
  readonly resource: Resource;
  readonly before: JsonRecord | undefined;
  readonly after: JsonRecord | undefined;
  /** The JSON of `after`, if already serialized. */
  readonly json?: string;
  /** When it happened: UTC, `YYYY-MM-DDTHH:mm:ss.SSSZ`. */
  readonly at: string;
}
