-- agtmux in Neovim: sends lines to the CONNECTED agent, chooses that agent, and says in the statusline who it is. Everything goes
-- through the command line of agtmux, and nothing is kept here. Put this file into ~/.config/nvim/lua/ and call
--   require('agtmux').setup({})
-- for the commands :AgtmuxSend, :AgtmuxPick and the key <leader>a. Needs Neovim 0.7 or newer.
local M = {}

local options = { program = 'agtmux', key = '<leader>a', seconds = 2 }
local shown = ''

local function tell(words, level)
  vim.notify('agtmux: ' .. words, level or vim.log.levels.INFO)
end

-- Runs agtmux without a shell in between; `input` never stands in its arguments.
local function run(arguments, input, done)
  local said, trouble = {}, {}
  local command = vim.list_extend({ options.program }, arguments)
  local ok, job = pcall(vim.fn.jobstart, command, {
    stdout_buffered = true,
    stderr_buffered = true,
    on_stdout = function(_, lines) said = lines end,
    on_stderr = function(_, lines) trouble = lines end,
    on_exit = function(_, status)
      done(status, vim.trim(table.concat(said, '\n')), vim.trim(table.concat(trouble, '\n')))
    end,
  })
  if not ok or job <= 0 then
    done(127, '', options.program .. ' was not found; install agtmux, or set `program` in setup()')
    return
  end
  if input ~= nil then vim.fn.chansend(job, input) end
  vim.fn.chanclose(job, 'stdin')
end

local function told(status, said, trouble)
  if status == 0 then tell(said) else tell(trouble ~= '' and trouble or said, vim.log.levels.ERROR) end
end

-- What is on disk as it is shown is named; what is not goes along as text.
function M.send(first, last, words)
  local path = vim.fn.expand('%:p')
  local lines = vim.api.nvim_buf_get_lines(0, first - 1, last, false)
  if path ~= '' and vim.fn.filereadable(path) == 1 and not vim.bo.modified then
    run({ 'tell', '--file', string.format('%s:%d-%d', path, first, last), '-' }, words, told)
    return
  end
  local name = path ~= '' and vim.fn.fnamemodify(path, ':.') or 'a new buffer'
  local quoted = { string.format('%s, lines %d-%d, not saved:', name, first, last), '```' .. vim.bo.filetype }
  vim.list_extend(quoted, lines)
  table.insert(quoted, '```')
  if words ~= '' then table.insert(quoted, 1, words .. '\n') end
  run({ 'tell', '-' }, table.concat(quoted, '\n'), told)
end

function M.pick()
  run({ 'list', '--json' }, nil, function(status, said, trouble)
    if status ~= 0 then return told(status, said, trouble) end
    local agents = vim.tbl_filter(function(item) return item.ended == vim.NIL end, vim.json.decode(said).items)
    local function words(item)
      local mark = item.route == 'CONNECTED' and '→ ' or '  '
      return vim.fn.substitute(mark .. item.agent .. '  ' .. item.state .. '  ' .. item.ref, '[[:cntrl:]]', '?', 'g')
    end
    vim.ui.select(agents, { prompt = 'Send to which agent from now on?', format_item = words }, function(item)
      if item ~= nil then run({ 'route', 'activate', item.ref }, nil, told) end
    end)
  end)
end

-- For 'statusline': %{v:lua.require'agtmux'.status()}
function M.status() return shown end

function M.refresh(done)
  run({ 'list', '--json' }, nil, function(status, said)
    local text = 'agtmux: off'
    if status == 0 then
      local waiting, connected = 0, 'no agent'
      for _, item in ipairs(vim.json.decode(said).items) do
        if item.ended == vim.NIL then
          if item.state == 'waiting_approval' or item.state == 'waiting_input' then waiting = waiting + 1 end
          if item.route == 'CONNECTED' then connected = '→ ' .. item.agent .. ' ' .. item.state end
        end
      end
      text = connected .. (waiting > 0 and ('  ▲' .. waiting) or '')
    end
    shown = vim.fn.substitute(text, '[[:cntrl:]]', '?', 'g')
    vim.cmd('redrawstatus')
    if done then done(shown) end
  end)
end

function M.setup(chosen)
  options = vim.tbl_extend('force', options, chosen or {})
  vim.api.nvim_create_user_command('AgtmuxSend', function(call) M.send(call.line1, call.line2, call.args) end, {
    range = true,
    nargs = '*',
    desc = 'Send these lines to the CONNECTED agent, with words',
  })
  vim.api.nvim_create_user_command('AgtmuxPick', M.pick, { desc = 'Choose the CONNECTED agent' })
  if options.key ~= '' then vim.keymap.set({ 'n', 'x' }, options.key, ':AgtmuxSend ', { desc = 'Send to the CONNECTED agent' }) end
  local timer = vim.loop.new_timer()
  timer:start(0, options.seconds * 1000, vim.schedule_wrap(function() M.refresh() end))
end

return M
