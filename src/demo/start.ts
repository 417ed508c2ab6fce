import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { SCOPES } from '../catalog/scopes.ts';
import type { OpenFolder } from '../server/datafolder.ts';
import { hasImageLibrary } from '../server/files/images.ts';
import { importRecords } from '../server/import/importer.ts';
import { numberRecords } from '../server/import/lines.ts';
import { findOrganization } from '../server/organizations.ts';
import type { Demo } from '../server/serve.ts';
import { nowOf } from '../server/service.ts';
import { newToken, saveToken } from '../server/tokens/tokens.ts';
import { demoActivity } from './activity.ts';
import { DEMO_ORGANIZATION_ID } from './practice.ts';
import type { DemoRecord } from './record.ts';
import { demoRecords } from './records.ts';
import type { Size } from './sizes.ts';

/** Organization and token of the demo practice. */
interface Credentials {
  readonly organization: string;
  readonly token: string;
}

/** The demo practice as `serve` takes it. */
export function demoOf(size: Size): Demo {
  return async (folder) => {
    const access = await seedDemo(folder, size);
    return async (url) => ({
      organization: access.organization,
      file: await writeDemoEnvironment(folder, url, access),
    });
  };
}

/** Fills a data folder with the demo practice the first time; a folder that has it is left as it is. */
async function seedDemo(folder: OpenFolder, size: Size): Promise<Credentials> {
  const { service, path } = folder;
  const known = await findOrganization(service.store.read, DEMO_ORGANIZATION_ID);
  if (known === undefined) {
    const today = nowOf(service).slice(0, 10);
    // Like the records of a practice that was there before its stream.
    await importRecords(service, () => numberRecords(practice(size, today)), { untold: true });
  }
  const token = (await keptToken(path)) ?? newToken();
  await service.store.write((tx) =>
    saveToken(tx, token, {
      organizations: [DEMO_ORGANIZATION_ID],
      scopes: [...SCOPES],
      label: 'demo',
      createdAt: nowOf(service),
      expiresAt: null,
    }),
  );
  return { organization: DEMO_ORGANIZATION_ID, token };
}

/** Two years of a practice; the large one is patients and documents only, for trying out size. */
function* practice(size: Size, today: string): Generator<DemoRecord> {
  const crops = hasImageLibrary();
  for (const record of demoRecords(size, { today })) yield crops ? record : uncropped(record);
  if (size !== 'large') yield* demoActivity(size, { today });
}

/** The record without a crop, which a server without the image library refuses. */
function uncropped(record: DemoRecord): DemoRecord {
  if (record.type !== 'DocumentV1') return record;
  const { content } = record.file as { readonly content: string };
  return { ...record, file: { content } };
}

/** Writes the connection to a file that a shell can read, for its owner only; tokens go into no log. Returns its path. */
export async function writeDemoEnvironment(folder: OpenFolder, url: string, access: Credentials): Promise<string> {
  const file = environmentFile(folder.path);
  const lines = { MOLAR_URL: url, MOLAR_ORGANIZATION: access.organization, MOLAR_TOKEN: access.token };
  const text = Object.entries(lines)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('');
  await writeFile(file, text, { mode: 0o600 });
  return file;
}

function environmentFile(path: string): string {
  return join(path, 'demo.env');
}

async function keptToken(path: string): Promise<string | undefined> {
  try {
    return /MOLAR_TOKEN='([^']+)'/.exec(await readFile(environmentFile(path), 'utf8'))?.[1];
  } catch {
    return undefined;
  }
}
