// What an agent has changed since its turn began: the files, and each of them side by side, or in one column where there is no
// room for two.

import { memo, type ReactNode, useState } from 'react';
import type { AgentDiffReply } from '../../api/git.ts';
import { get, pathTo } from '../../api/requests.ts';
import { hasAgent } from '../../model/rows.ts';
import type { AgentItem } from '../../view/board.ts';
import { gitLabel, projectOf } from '../../view/pane-words.ts';
import { agentLabel } from '../../view/words.ts';
import { Empty, Link, PageHead, ReadingNote, Scroll } from '../parts/basics.tsx';
import { Age, block, line } from '../parts/text.tsx';
import { isNarrow, keep, kept } from '../port.ts';
import { refOf } from '../state/agents.ts';
import { type DiffHunk, type DiffLine, type FileDiff, inOneColumn, parsePatch } from '../state/diff.ts';
import { useBeat, useModel, useReading } from '../state/hooks.ts';
import { pathOf } from '../state/route.ts';

const beatMs = 10_000;
/** Longer ones are opened when they are wanted. */
const openRowsMax = 600;

export function DiffPage({ id }: { readonly id: string }): ReactNode {
  const { rows, isFilled } = useModel();
  const item = rows.get(`row:${id}`);
  if (item === undefined || !hasAgent(item))
    return isFilled ? (
      <Empty title="There is no such agent, or it is no longer listed." isPage>
        <Link to={pathOf('agents')}>All agents</Link>
      </Empty>
    ) : null;
  return <Changes item={item} />;
}

function Changes({ item }: { readonly item: AgentItem }): ReactNode {
  const reading = useReading(
    get(pathTo('/v1/agents/{ref}/diff', { ref: refOf(item) })),
    `${useBeat(beatMs)} ${item.state_version}`,
  );
  const [isOneColumn, setOneColumn] = useState(() => (kept('diff') ?? (isNarrow() ? 'one' : 'two')) === 'one');
  const choose = (isOne: boolean): void => {
    keep('diff', isOne ? 'one' : 'two');
    setOneColumn(isOne);
  };
  const { value } = reading;
  return (
    <div data-agent={item.runtime_id} className="diff-page">
      <PageHead title={`Changes of ${line(agentLabel(item))} in ${line(projectOf(item.cwd))}`}>
        <Link to={pathOf('agents', item.runtime_id)}>The agent</Link>
        <label className="check">
          <input type="checkbox" checked={isOneColumn} onChange={({ target }) => choose(target.checked)} /> in one
          column
        </label>
      </PageHead>
      <ReadingNote reading={reading} />
      {value === null ? null : <Told diff={value} isOneColumn={isOneColumn} />}
    </div>
  );
}

const baseWords = {
  turn: 'since its turn began',
  first_seen: 'since it was first seen',
  commit: 'since the last commit',
};
const changeWords = { added: 'new', modified: 'changed', deleted: 'deleted', renamed: 'renamed', other: 'changed' };

interface ToldProps {
  readonly diff: AgentDiffReply;
  readonly isOneColumn: boolean;
}

function Told({ diff, isOneColumn }: ToldProps): ReactNode {
  const { git, base, files, files_total, left_out, patch, is_cut } = diff;
  const sum = (side: 'added' | 'removed'): number => files.reduce((all, file) => all + (file[side] ?? 0), 0);
  return (
    <>
      <p className="agent-facts">
        <span className="tag">{line(gitLabel(git))}</span>
        {git.worktree ? <span className="dim">a worktree of {line(git.repository)}</span> : null}
        <span>
          {files_total} {files_total === 1 ? 'file' : 'files'} {baseWords[base.kind]}
        </span>
        {base.at === null ? null : <Age since={base.at} after=" ago" />}
        <Counts added={sum('added')} removed={sum('removed')} />
      </p>
      {left_out === 0 ? null : (
        <p className="dim">
          {left_out} {left_out === 1 ? 'file is' : 'files are'} too large, or one too many, and not compared.
        </p>
      )}
      {files.length === 0 ? <p className="calm-note">Nothing has changed {baseWords[base.kind]}.</p> : null}
      {files.length === 0 ? null : (
        <ul className="panel diff-files" aria-label="Changed files">
          {files.map(({ path, old_path, change, added, removed }) => (
            <li key={path} className="diff-entry">
              <span className="dim">{changeWords[change]}</span>
              <a href={`#${encodeURIComponent(path)}`}>
                {old_path === null ? '' : `${line(old_path)} → `}
                {line(path)}
              </a>
              <Counts added={added} removed={removed} />
            </li>
          ))}
        </ul>
      )}
      <Files patch={patch} isOneColumn={isOneColumn} />
      {is_cut ? <p className="dim">There is more than is shown here: `agtmux diff` and git have all of it.</p> : null}
    </>
  );
}

/** Null: not text. */
function Counts({ added, removed }: { readonly added: number | null; readonly removed: number | null }): ReactNode {
  if (added === null || removed === null) return <span className="dim">binary</span>;
  return (
    <span className="diff-counts">
      <span className="c-good">+{added}</span> <span className="c-bad">−{removed}</span>
    </span>
  );
}

/** Read and drawn again only when it is another one. */
const Files = memo(function PatchFiles({
  patch,
  isOneColumn,
}: {
  readonly patch: string;
  readonly isOneColumn: boolean;
}) {
  return parsePatch(block(patch)).map((file, place) => (
    <FilePart key={`${place} ${file.path}`} file={file} isOneColumn={isOneColumn} />
  ));
});

function FilePart({ file, isOneColumn }: { readonly file: FileDiff; readonly isOneColumn: boolean }): ReactNode {
  const rows = file.hunks.reduce((all, hunk) => all + hunk.rows.length, 0);
  const [isOpen, setOpen] = useState(rows <= openRowsMax);
  return (
    <section className="panel diff-file" id={encodeURIComponent(file.path)} aria-label={line(file.path)}>
      <h2>
        <button type="button" className="quiet" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? '▾' : '▸'} {line(file.path)}
        </button>
      </h2>
      {file.notes.map((note) => (
        <p key={note} className="dim small">
          {line(note)}
        </p>
      ))}
      {isOpen && file.hunks.length > 0 ? (
        <Scroll className="diff-text" label={`Changes of ${line(file.path)}`}>
          <table className={isOneColumn ? 'diff-table is-one' : 'diff-table'}>
            <caption className="unseen">{isOneColumn ? 'Before and after' : 'Before, and after beside it'}</caption>
            {isOneColumn ? null : (
              <colgroup>
                <col className="diff-number" />
                <col />
                <col className="diff-number" />
                <col />
              </colgroup>
            )}
            {file.hunks.map((hunk, place) => (
              <Hunk key={`${place} ${hunk.head}`} hunk={hunk} isOneColumn={isOneColumn} />
            ))}
          </table>
        </Scroll>
      ) : null}
    </section>
  );
}

function Hunk({ hunk, isOneColumn }: { readonly hunk: DiffHunk; readonly isOneColumn: boolean }): ReactNode {
  const rows = isOneColumn ? inOneColumn(hunk.rows) : hunk.rows;
  return (
    <tbody>
      <tr className="diff-place">
        <td colSpan={isOneColumn ? 3 : 4}>⋯ {line(hunk.head)}</td>
      </tr>
      {rows.map(({ isSame, left, right }) => (
        <tr key={`${left?.number ?? ''} ${right?.number ?? ''}`}>
          {isOneColumn ? (
            <>
              <td className="diff-number">{left?.number}</td>
              <td className="diff-number">{right?.number}</td>
              <Side text={left ?? right} mark={isSame ? ' ' : left === null ? '+' : '−'} />
            </>
          ) : (
            <>
              <td className="diff-number">{left?.number}</td>
              <Side text={left} mark={isSame ? ' ' : '−'} />
              <td className="diff-number">{right?.number}</td>
              <Side text={right} mark={isSame ? ' ' : '+'} />
            </>
          )}
        </tr>
      ))}
    </tbody>
  );
}

const sideClasses = { ' ': 'diff-side', '+': 'diff-side is-new', '−': 'diff-side is-old' } as const;

function Side({ text, mark }: { readonly text: DiffLine | null; readonly mark: ' ' | '+' | '−' }): ReactNode {
  if (text === null) return <td className="diff-side is-none" />;
  return (
    <td className={sideClasses[mark]}>
      <span className="diff-mark">{mark}</span>
      {text.text}
    </td>
  );
}
