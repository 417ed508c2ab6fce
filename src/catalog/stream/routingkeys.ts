/** The four parts of a routing key, each text without a dot (specification, Events; D40). */
export interface RoutingKey {
  readonly organizationId: string;
  /** Location id as text, `*` where a record has none. */
  readonly locationId: string;
  readonly domainType: string;
  readonly operation: string;
}

/** `organizationId.locationId.DomainType.operation`. */
export function formatRoutingKey({ organizationId, locationId, domainType, operation }: RoutingKey): string {
  return `${organizationId}.${locationId}.${domainType}.${operation}`;
}
