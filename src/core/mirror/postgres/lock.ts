import type { Client } from 'pg';
import { type Failure, localFailure } from '../../failure.ts';
import type { LockOwner } from '../../lockfile.ts';

/** The first number of our locks: `molr`. The second one is that of the schema. */
const SPACE = 0x6d6f6c72;

/** How often a lock is asked for again, after how many milliseconds, whose process is gone: the database is about to notice. */
const MAX_STEPS = 100;
const STEP = 50;

/** Who writes to a schema, as its connection says in `pg_stat_activity`. */
interface Holder {
  readonly pid: number | null;
  readonly command: string | null;
  /** UTC. */
  readonly since: string | null;
  readonly host: string | null;
  /** Its process was on this computer, and is gone. */
  readonly isDead: boolean;
}

/**
 * Reserves a schema for this connection, until it ends in whatever way. Throws a Failure with exit code 9 that names the
 * holder.
 */
export async function takeLock(
  client: Client,
  {
    schema,
    name,
    command,
    owner,
  }: { readonly schema: string; readonly name: string; readonly command: string; readonly owner: LockOwner },
): Promise<void> {
  for (let step = 0; ; step++) {
    const { rows } = await client.query<{ taken: boolean }>({
      text: 'SELECT pg_try_advisory_lock($1, hashtext($2)) AS taken',
      values: [SPACE, schema],
    });
    if (rows[0]?.taken === true) break;
    const holder = await holderIn(client, schema, owner);
    if (holder !== undefined && (!holder.isDead || step >= MAX_STEPS)) throw inUse(name, holder, owner);
    await owner.clock.sleep(STEP);
  }
  const since = new Date(owner.clock.now()).toISOString().replace(/\.\d+/, '');
  // It has room for 63 characters: of a long host name the beginning.
  const told = `${command} ${owner.pid} ${since} ${owner.host}`;
  await client.query({ text: "SELECT set_config('application_name', $1, false)", values: [told] });
}

/** Who has reserved a schema. */
export async function holderIn(client: Client, schema: string, owner: LockOwner): Promise<Holder | undefined> {
  const { rows } = await client.query<{ told: string | null }>({
    text: `SELECT a.application_name AS told FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a ON a.pid = l.pid
      WHERE l.locktype = 'advisory' AND l.granted AND l.objsubid = 2
        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
        AND CAST(l.classid AS bigint) = $1 AND CAST(l.objid AS bigint) = (CAST(hashtext($2) AS bigint) & 4294967295)`,
    values: [SPACE, schema],
  });
  const [row] = rows;
  if (row === undefined) return undefined;
  const [, command = null, pid, since = null, host = null] =
    /^(molar [a-z ]+) (\d+) (\S+Z) (.*)$/.exec(row.told ?? '') ?? [];
  if (pid === undefined || host === null) return { pid: null, command: null, since: null, host: null, isDead: false };
  // Of a long host name the beginning is told.
  const isHere = owner.host.startsWith(host);
  return { pid: Number(pid), command, since, host, isDead: isHere && !owner.lifeOf(Number(pid)).alive };
}

function inUse(name: string, { pid, command, since, host }: Holder, owner: LockOwner): Failure {
  const place = host === null || owner.host.startsWith(host) ? '' : ` on ${host}`;
  const who = pid === null ? 'another connection' : `${command}, process ${pid}${place} since ${since}`;
  return localFailure('local.file', `The mirror ${name} is in use by ${who}.`, {
    source: name,
    hint: 'Wait until that process ends.',
  });
}
