import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Fields, Resource } from '../store.ts';
import { molar, type Outcome, type Run } from './run.ts';

interface Creation {
  readonly resource: Resource;
  readonly line: readonly string[];
  /** Whether the same line may be run again until it succeeds. */
  readonly repeatable: boolean;
  /** Whether a record is the one that was to be created. */
  readonly is: (record: Fields) => boolean;
}

/** Creates a record: it is stored once after a success, and never twice. */
export async function create(run: Run): Promise<Outcome> {
  const { service, draws } = run;
  const creation = await draws.one([patient, event, tag, document])(run);
  const { resource, line, repeatable, is } = creation;
  const before = new Set(service.records(resource).map(({ id }) => id));
  let ran = await molar(run, ...line);
  for (let again = 0; repeatable && ran.exitCode !== 0 && again < 2; again++) ran = await molar(run, ...line);
  const added = service.records(resource).filter(({ id }) => !before.has(id));
  const stored = added.filter(is).length;
  const problems = [
    ...(added.length !== stored ? [`${resource}: ${added.length - stored} stored that were not sent`] : []),
    ...(stored > 1 ? [`${resource}: stored ${stored} times`] : []),
    ...(stored === 0 && ran.exitCode === 0 ? [`${resource}: exit 0 and nothing stored`] : []),
  ];
  return { end: ran.exitCode === 0 ? 'whole' : 'failed', problems, stderr: ran.stderr };
}

async function patient({ service, draws }: Run): Promise<Creation> {
  const lastName = draws.one(['Example', "O'Example", 'Ex, Ample']);
  const line = [
    ...['patients', 'create', '--first-name', 'Ann', '--last-name', lastName, '--gender', 'F'],
    ...['--date-of-birth', '1990-04-12', '--patient-status', 'NEW', '--contact-method', 'Email me'],
    ...['--language-type', 'English', '--address1', '1 Main St', '--city', 'Denver', '--state', 'CO'],
    ...['--postal-code', '80202', '--preferred-location', String(service.practice.locations[0]?.id)],
  ];
  return { resource: 'patients', line, repeatable: false, is: (record) => record.lastName === lastName };
}

async function event({ service, draws }: Run): Promise<Creation> {
  const title = draws.one(['Staff lunch', 'Lunch, all of us', 'Meeting 1']);
  const line = [
    ...['events', 'create', '--title', title, '--start', '2026-12-01T12:00:00-07:00', '--duration', '45'],
    ...['--location', String(service.practice.locations[0]?.id)],
  ];
  return { resource: 'events', line, repeatable: false, is: (record) => record.title === title };
}

async function tag({ draws }: Run): Promise<Creation> {
  const text = draws.one(['Payment plan', 'Plan, monthly']);
  const line = [
    'transactiontags',
    'create',
    '--tag-text',
    text,
    '--is-predefined',
    'false',
    '--tag-type',
    'PAYMENT_TAG',
  ];
  return { resource: 'transactiontags', line, repeatable: false, is: (record) => record.tagText === text };
}

const CONTENTS = {
  pdf: Buffer.from('%PDF-1.4\nreport of a made-up practice\n%%EOF\n'),
  jpg: Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'),
};

async function document({ service, draws, folder }: Run): Promise<Creation> {
  const extension = draws.one(['pdf', 'jpg'] as const);
  const path = join(folder, `report.${extension}`);
  await writeFile(path, CONTENTS[extension]);
  const [owner] = draws.shuffled(service.records('patients'));
  const owned = draws.chance(0.5) ? ['--patient', String(owner?.id)] : [];
  const tags = draws.chance(0.5) ? ['--tag', 'Xray'] : [];
  return {
    resource: 'documents',
    line: ['documents', 'upload', path, ...owned, ...tags, '--results', join(folder, 'results.csv')],
    repeatable: true,
    is: ({ name, guidName }) =>
      /^report/.test(String(name)) &&
      service.practice.files.get(String(guidName))?.equals(CONTENTS[extension]) === true,
  };
}
