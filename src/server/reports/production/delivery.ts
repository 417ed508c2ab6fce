import { NO_LOCATION } from '../../../catalog/stream/domains.ts';
import { projectRecord } from '../../rendering.ts';
import type { ChunkReader } from '../../stream/chunks.ts';
import { queryOfTerms } from './query.ts';
import { productionItem, scheduled } from './scheduled.ts';

/** The next items of the asynchronous report, by appointment id; `after`: the id of the last one delivered. */
export const productionChunk: ChunkReader = async (read, organization, { terms, fields }, after, limit) => {
  const rows = await scheduled(read, organization, queryOfTerms(terms));
  const left = rows.filter(({ id }) => id > after).sort((a, b) => a.id - b.id);
  const taken = left.slice(0, limit);
  return {
    records: taken.map((row) => ({
      id: row.id,
      patient: row.patient,
      payload: JSON.stringify(projectRecord(productionItem(row), fields)),
      locationId: row.location_id === null ? NO_LOCATION : String(row.location_id),
      location: row.location,
    })),
    reachedId: left.length > limit ? taken.at(-1)?.id : undefined,
  };
};
