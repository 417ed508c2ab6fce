import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { molarIn } from './inprocess.ts';
import {
  connection,
  copyWithoutImages,
  loadCommands,
  molar,
  ORGANIZATION,
  PATIENT,
  serve,
  TOKEN,
  workplace,
  writeFixture,
} from './molar.ts';

let place: Awaited<ReturnType<typeof workplace>>;
/** A copy of the built program that finds every package with machine code but sharp. */
let copy: string;
let run: string;

beforeAll(async () => {
  place = await workplace();
  copy = join(place.path, 'molar');
  run = await copyWithoutImages(copy);
  await writeFixture(place.path, 1);
  const picture = sharp({ create: { width: 60, height: 40, channels: 3, background: '#456' } });
  await writeFile(join(place.path, 'photo.png'), await picture.png().toBuffer());
});

afterAll(() => place.remove());

const CROP = { fromX: 0, fromY: 0, width: 10, height: 10, ratio: 1 };

describe('molar without sharp, which is optional', () => {
  it('loads every command', async () => {
    const { files, ...ended } = await loadCommands(copy);
    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(files).toBeGreaterThan(75);
  });

  it('serves, notes at the start that images cannot be cropped, and stores them uncropped', async () => {
    const served = await serve(place.path, ['--data', ':memory:', '--import', 'fixture.ndjson'], run);
    try {
      const upload = ['documents', 'upload', 'photo.png', '--patient', `${PATIENT}`, '--max-retries', '0', '--json'];
      const env = connection(served.url);
      const cropped = await molarIn(place.path, [...upload, '--crop', '0,0,10,10', '--ratio', '1'], env);
      expect(cropped).toMatchObject({ code: 8, stdout: '' });
      expect(JSON.parse(cropped.stderr)).toMatchObject({
        error: { code: 'server.images', hint: expect.stringMatching(/ optional package sharp/) },
      });
      const response = await fetch(`${served.url}/api/v1/documents`, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          authorization: `Bearer ${TOKEN}`,
          'organization-id': ORGANIZATION,
        },
        body: JSON.stringify({
          name: 'photo',
          mimeType: 'PNG',
          file: { content: await readFile(join(place.path, 'photo.png'), 'base64'), ...CROP },
        }),
      });
      expect(response.status).toBe(503);
      expect(await response.json()).toMatchObject({
        data: null,
        errors: [
          {
            code: 'server.images',
            title: 'Images cannot be cropped',
            description: expect.stringMatching(/^This server cannot crop images: its optional package sharp is not/),
            source: null,
          },
        ],
      });
      const plain = await molarIn(place.path, upload, env);
      expect(plain, plain.stderr).toMatchObject({ code: 0, stdout: expect.stringMatching(/"photo\.png"/) });
      const listed = await molarIn(place.path, ['documents', 'count'], env);
      expect(listed.stdout).toBe('1\n');
    } finally {
      expect(await served.stop()).toBe(0);
    }
    const notes = (await served.errors).split('\n').filter((line) => line.includes('sharp'));
    expect(notes.map((line) => JSON.parse(line))).toMatchObject([
      { level: 40, msg: 'images cannot be cropped: the optional package sharp is not installed' },
    ]);
  });

  // That it fills the demo practice without crops is said by demo.test.ts.
  it('refuses an import line with a crop', async () => {
    const document = {
      type: 'DocumentV1',
      organizationId: ORGANIZATION,
      id: 9000000000001,
      name: 'photo',
      mimeType: 'PNG',
      ownerPatient: { id: PATIENT },
      tags: [],
      file: { content: await readFile(join(place.path, 'photo.png'), 'base64'), ...CROP },
    };
    const fixture = await readFile(join(place.path, 'fixture.ndjson'), 'utf8');
    await writeFile(join(place.path, 'cropped.ndjson'), `${fixture}${JSON.stringify(document)}\n`);
    const importing = ['server', 'import', 'cropped.ndjson', '--data', 'imported'];
    const refused = await molar(place.path, importing, {}, '', run);
    expect(refused.code).not.toBe(0);
    expect(refused.stderr).toMatch(/cannot crop images: its optional package sharp/);
  });
});
