import { beforeEach, describe, expect, it } from 'vitest';
import { TestDocuments } from '../../test/kit/documents.ts';
import { createSimulatedClock } from '../platform/simulated/clock.ts';
import { createSimulatedFiles, type SimulatedFiles } from '../platform/simulated/files.ts';
import { type Document, DocumentWriter, importFile, NotKeptError, type OldFile } from './documents.ts';

let store: TestDocuments;
let files: SimulatedFiles;
let wanted: Document[];
let writer: DocumentWriter;

const name = (id: string, body = id): Document => ({ kind: 'name', id, body: JSON.stringify(body) });
const onDisk = async () => (await store.documents(['name'])).map(({ body }) => JSON.parse(body));

beforeEach(async () => {
  store = new TestDocuments();
  files = createSimulatedFiles({ clock: createSimulatedClock() });
  await files.mkdirPrivate('/state');
  wanted = [];
  writer = new DocumentWriter(store, ['name'], () => wanted);
});

describe('what a service keeps', () => {
  it('LOG8 is on disk when the save is done, in its order, and only what changed is written', async () => {
    wanted = [name('b'), name('a')];
    await writer.save();
    expect(await onDisk()).toEqual(['b', 'a']);
    wanted = [name('b', 'other'), name('a'), name('c')];
    await writer.save();
    expect(await onDisk()).toEqual(['other', 'a', 'c']);
    wanted = [name('c')];
    await writer.save();
    await writer.save();
    expect(await onDisk()).toEqual(['c']);
    expect(store.changes).toEqual([2, 2, 2]);
  });

  it('LOG8 leaves documents of others alone, and goes on with those of an earlier daemon', async () => {
    await store.putDocuments({ put: [{ kind: 'hops', id: 'x', number: 1, body: '1' }], remove: [] });
    wanted = [name('a')];
    await writer.save();
    const next = new DocumentWriter(store, ['name'], () => [name('a'), name('b')]);
    await next.save();
    expect(store.changes).toEqual([1, 1, 1]);
    expect(store.all('hops')).toEqual([1]);
  });

  it('LOG8 who saves while another save fails is told of its own', async () => {
    store.failNext(1);
    wanted = [name('a')];
    const [first, second] = await Promise.allSettled([writer.save(), writer.save()]);
    expect(first).toMatchObject({ status: 'rejected', reason: expect.any(NotKeptError) });
    expect(second?.status).toBe('fulfilled');
    expect(await onDisk()).toEqual(['a']);
  });

  it('LOG2 LOG8 is written again after a damaged log was replaced in use', async () => {
    wanted = [name('a'), name('b')];
    await writer.save();
    store.startOver(['name']);
    await writer.save();
    expect(await onDisk()).toEqual(['a', 'b']);
  });
});

describe('a file of an earlier version', () => {
  const old: OldFile = {
    path: '/state/old.json',
    logPath: '/state/old.log',
    bytesMax: 100,
    read: (text, log) =>
      text.startsWith('[') ? [...JSON.parse(text), ...JSON.parse(log ?? '[]')].map((id) => name(id)) : null,
  };
  const plant = (path: string, text: string): void => files.plant(path, { kind: 'file', bytes: Buffer.from(text) });
  const names = async () => [...((await files.list('/state', 99))?.names ?? [])].sort();

  it('LOG8a is taken over once, with the file beside it, and stays as a backup', async () => {
    plant('/state/old.json', '["a","b"]');
    plant('/state/old.log', '["c"]');
    expect(await importFile(store, files, old)).toBeNull();
    expect(await onDisk()).toEqual(['a', 'b', 'c']);
    expect(await names()).toEqual(['old.json.backup', 'old.log.backup']);
    expect(store.changes).toEqual([4]);
    await store.putDocuments({ put: [], remove: [name('a')] });
    expect(await importFile(store, files, old)).toBeNull();
    expect(await onDisk()).toEqual(['b', 'c']);
  });

  it('LOG8 is not taken over again by the daemon after one that ended before it was moved', async () => {
    plant('/state/old.json', '["a","b"]');
    store.cutAt(1, true);
    expect(await importFile(store, files, old)).toBe('the power is cut');
    store.restart();
    await store.putDocuments({ put: [], remove: [name('a')] });
    expect(await importFile(store, files, old)).toBeNull();
    expect(await onDisk()).toEqual(['b']);
    expect(await names()).toEqual(['old.json.backup']);
  });

  it('LOG8a is left as it is when it cannot be taken over', async () => {
    plant('/state/old.json', '["a"]');
    store.cutAt(1, false);
    expect(await importFile(store, files, old)).toBe('the power is cut');
    store.restart();
    expect(await names()).toEqual(['old.json']);
    expect(await importFile(store, files, old)).toBeNull();
    expect(await onDisk()).toEqual(['a']);
  });

  it.each([['not one of ours'], [`[${'"a",'.repeat(99)}"a"]`]])(
    'LOG8 is set aside when it is damaged, and what is wrong is told: %s',
    async (text) => {
      plant('/state/old.json', text);
      expect(await importFile(store, files, old)).toBe('/state/old.json could not be understood and was set aside');
      expect(await names()).toEqual(['old.json.damaged']);
      expect(await onDisk()).toEqual([]);
    },
  );

  it('LOG8 need not be there', async () => {
    expect(await importFile(store, files, old)).toBeNull();
    expect(store.changes).toEqual([]);
  });
});
