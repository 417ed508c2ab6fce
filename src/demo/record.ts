/** One record in the import format (contract §7): its type, its organization and its fields by their wire names. */
export interface DemoRecord {
  readonly type: string;
  readonly organizationId: string;
  readonly id: number | string;
  readonly [field: string]: unknown;
}
