import type { FastifyRequest } from 'fastify';
import type { Operation } from '../../catalog/define.ts';
import type { Actor, AuditEntry } from '../audit/entries.ts';
import type { OperationRequest } from '../service.ts';
import type { Grant } from '../tokens/tokens.ts';

/** Who an authenticated request comes from, for the audit log. */
export function actorOf(request: FastifyRequest, grant: Pick<Grant, 'id'>): Actor {
  return { who: `token ${grant.id}`, address: request.ip, requestId: request.id };
}

/** Parameters that say how an answer is cut, not what is asked for. */
const FORM = ['filter', 'responseFields', 'pageSize', 'page', 'lastId'];

/** What a read was of, for the audit log: ids and names of keys, never what was looked for. */
export function auditedRead(
  { id, parameters = {} }: Operation,
  { query, pathId, found }: Pick<OperationRequest, 'query' | 'pathId' | 'found'>,
): Pick<AuditEntry, 'operation' | 'ids' | 'count' | 'filterKeys'> {
  const asked = Object.keys(query).filter((name) => !FORM.includes(name) && Object.hasOwn(parameters, name));
  return {
    operation: id,
    ids: pathId === undefined ? undefined : [pathId],
    count: found.count,
    filterKeys: [...(found.filterKeys ?? []), ...asked],
  };
}
