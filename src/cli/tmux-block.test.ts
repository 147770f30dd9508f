import { describe, expect, it } from 'vitest';
import { addBlock, findBlock, removeBlock, replaceBlock } from './tmux.ts';

const lines = ['source-file -q ~/x.conf'];

function given<Value>(result: { ok: true; value: Value } | { ok: false }): Value {
  if (!result.ok) throw new Error('refused');
  return result.value;
}

function blockIn(text: string) {
  const block = given(findBlock(text, 'conf'));
  if (block === null) throw new Error('no block');
  return block;
}

describe('the block in a tmux.conf', () => {
  const texts = [
    '',
    'set -g a b\n',
    'set -g a b',
    'set -g a b\r\nset -g c d\r\n',
    'set -g a b\r\nlast',
    '\n\n',
    '\u00ff\u0000x',
  ];

  it.each(texts)('leaves %j as it was', (text) => {
    const added = given(addBlock(text, lines, 'conf'));
    expect(added.startsWith(text)).toBe(true);
    const block = blockIn(added);
    expect(block.lines).toEqual(lines);
    expect(removeBlock(added, block)).toBe(text);
  });

  it('takes a file away that came with it, but not one that was used since', () => {
    const added = given(addBlock(null, lines, 'conf'));
    expect(removeBlock(added, blockIn(added))).toBeNull();
    const used = `${added}set -g mine 1\n`;
    expect(removeBlock(used, blockIn(used))).toBe('set -g mine 1\n');
  });

  it('joins no two lines of the user that it came to stand between', () => {
    const added = `${given(addBlock('one', lines, 'conf'))}two\n`;
    expect(removeBlock(added, blockIn(added))).toBe('one\ntwo\n');
  });

  it('gets other lines in its place', () => {
    const added = `${given(addBlock('one', lines, 'conf'))}two\n`;
    const replaced = replaceBlock(added, blockIn(added), ['source-file -q /other']);
    expect(blockIn(replaced).lines).toEqual(['source-file -q /other']);
    expect(removeBlock(replaced, blockIn(replaced))).toBe('one\ntwo\n');
  });

  it('is not guessed when its marks are not there once and whole', () => {
    const added = given(addBlock('one\n', lines, 'conf'));
    for (const broken of [
      added.replace('# <<< agtmux <<<\n', ''),
      added + added,
      added.replace('# >>> agtmux >>>', ''),
    ]) {
      expect(findBlock(broken, 'conf')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    }
  });

  it('INS4 is left alone when somebody put lines of their own into it', () => {
    const added = given(addBlock('one\n', lines, 'conf'));
    for (const theirs of ['set -g mine 1', '# mine', 'source-file -q ~/mine.conf']) {
      const held = added.replace('source-file', `${theirs}\nsource-file`);
      expect(findBlock(held, 'conf')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
      expect(findBlock(added.replace(lines[0] ?? '', theirs), 'conf').ok).toBe(theirs.startsWith('source-file'));
    }
  });

  it('is not put behind a line that goes on', () => {
    for (const text of ['set -g a \\', 'set -g a \\\n', 'set -g a \\\r\n']) {
      expect(addBlock(text, lines, 'conf')).toMatchObject({ ok: false, failure: { code: 'E_INPUT' } });
    }
  });
});
