# Installs or upgrades molar for one user of Windows, without administrator rights. For PowerShell 5.1 and newer.
# The archive has to have the SHA-256 that SHA256SUMS says, and SHA256SUMS the signature of the key below.
# With options: & ([scriptblock]::Create((irm @BASE@/install.ps1))) -Uninstall
param(
  # Where versions are installed, each in a folder of its own.
  [string]$Prefix = (Join-Path $env:LOCALAPPDATA 'Programs\molar'),
  # Removes molar again; profiles, settings and data stay.
  [switch]$Uninstall
)

$MolarBase = '@BASE@'
$MolarKey = @'
@KEY@
'@

function Install-Molar([string]$Prefix) {
  $ErrorActionPreference = 'Stop'
  $ProgressPreference = 'SilentlyContinue'
  # PowerShell 5.1 does not offer TLS 1.2 by itself.
  [Net.ServicePointManager]::SecurityProtocol = [Net.ServicePointManager]::SecurityProtocol -bor [Net.SecurityProtocolType]::Tls12
  $base = if ($env:MOLAR_RELEASES) { $env:MOLAR_RELEASES } else { $MolarBase }
  $base = $base.TrimEnd('/')
  if ($base -notmatch '^(https://[^@]+|http://(127\.0\.0\.1|localhost)[:/][^@]*)$') { throw "$base is no https:// address." }
  $machine = if ($env:PROCESSOR_ARCHITEW6432) { $env:PROCESSOR_ARCHITEW6432 } else { $env:PROCESSOR_ARCHITECTURE }
  $target = switch ($machine) {
    'AMD64' { 'windows-x64' }
    'ARM64' { 'windows-arm64' }
    default { throw "There is no molar for $machine here." }
  }
  $new = Join-Path $Prefix ".new.$PID"
  New-Item -ItemType Directory -Force -Path $new | Out-Null
  try {
    $sums = Join-Path $new 'SHA256SUMS'
    Invoke-WebRequest -UseBasicParsing -Uri "$base/SHA256SUMS" -OutFile $sums
    Confirm-MolarSignature $base $new
    $lines = @(Get-Content $sums | Where-Object { $_ -cmatch "^[0-9a-f]{64} [ *]molar-[0-9][0-9A-Za-z.-]*-$target\.zip$" })
    if ($lines.Count -ne 1) { throw "There is not one molar for $target at $base, but $($lines.Count)." }
    $sum, $archive = $lines[0] -split ' [ *]', 2
    $name = $archive -replace '\.zip$', ''
    $folder = Join-Path $Prefix $name
    if (Test-Path $folder) {
      Write-Host "$name has been downloaded before."
    } else {
      Write-Host "Downloading $archive ..."
      $file = Join-Path $new $archive
      Invoke-WebRequest -UseBasicParsing -Uri "$base/$archive" -OutFile $file
      if ((Get-FileHash -Algorithm SHA256 -Path $file).Hash -ne $sum) {
        throw "$archive is not what SHA256SUMS says: it is damaged, or was changed. Nothing was installed."
      }
      Expand-Archive -Path $file -DestinationPath $new
      & (Join-Path $new "$name\bin\molar.exe") --version | Out-Null
      if ($LASTEXITCODE -ne 0) { throw 'molar does not run on this system. Nothing was installed.' }
      Move-MolarFolder (Join-Path $new $name) $folder
    }
  } finally {
    Remove-Item -Recurse -Force -Path $new -ErrorAction SilentlyContinue
  }
  # The version before stays: it may be running. Where it is in use, an older one stays too, until the next upgrade.
  $before = @(Get-MolarPath | Where-Object { Test-MolarEntry $_ $Prefix } | ForEach-Object { Split-Path $_ })
  Get-ChildItem -Directory -Path $Prefix -Filter 'molar-*' |
    Where-Object { $_.FullName -ne $folder -and $before -notcontains $_.FullName } |
    Remove-Item -Recurse -Force -ErrorAction SilentlyContinue
  $bin = Join-Path $folder 'bin'
  Set-MolarPath (@($bin) + @(Get-MolarPath | Where-Object { -not (Test-MolarEntry $_ $Prefix) }))
  Write-Host "$name is installed. Open a new terminal; next: molar demo"
}

function Uninstall-Molar([string]$Prefix) {
  $ErrorActionPreference = 'Stop'
  if (-not (Test-Path $Prefix)) {
    Write-Host "molar is not installed in $Prefix."
    return
  }
  Set-MolarPath @(Get-MolarPath | Where-Object { -not (Test-MolarEntry $_ $Prefix) })
  Remove-Item -Recurse -Force -Path (Join-Path $Prefix 'molar-*')
  Write-Host 'molar is removed. Data folders, profiles and settings were left alone.'
}

# .NET has no Ed25519: without OpenSSL 3 only the digest is compared.
function Confirm-MolarSignature([string]$Base, [string]$Folder) {
  $openssl = Get-Command openssl -CommandType Application -ErrorAction SilentlyContinue | Select-Object -First 1
  if (-not $openssl -or (& $openssl.Source version) -notmatch '^OpenSSL [3-9]') {
    Write-Host 'The signature was not checked: that needs OpenSSL 3. What is downloaded is still compared with SHA256SUMS.'
    return
  }
  $signature = Join-Path $Folder 'SHA256SUMS.sig'
  $key = Join-Path $Folder 'key.pem'
  Invoke-WebRequest -UseBasicParsing -Uri "$Base/SHA256SUMS.sig" -OutFile $signature
  [IO.File]::WriteAllText($key, $MolarKey)
  & $openssl.Source pkeyutl -verify -pubin -inkey $key -rawin -in (Join-Path $Folder 'SHA256SUMS') -sigfile $signature | Out-Null
  if ($LASTEXITCODE -ne 0) {
    throw 'SHA256SUMS does not have the signature of those who publish molar. Nothing was installed.'
  }
}

# Antivirus software may hold a file that was just unpacked.
function Move-MolarFolder([string]$From, [string]$To) {
  for ($attempt = 1; ; $attempt++) {
    try {
      Move-Item -Path $From -Destination $To
      return
    } catch {
      if ($attempt -eq 30) { throw }
      Start-Sleep -Seconds 1
    }
  }
}

# The entries of the user's own PATH, with variables such as %USERPROFILE% as they are written.
function Get-MolarPath {
  $path = (Get-Item 'HKCU:\Environment').GetValue('Path', '', 'DoNotExpandEnvironmentNames')
  $path -split ';' | Where-Object { $_ -ne '' }
}

function Test-MolarEntry([string]$Entry, [string]$Prefix) {
  $Entry -like ([WildcardPattern]::Escape((Join-Path $Prefix 'molar-')) + '*')
}

function Set-MolarPath([string[]]$Entries) {
  Set-ItemProperty -Path 'HKCU:\Environment' -Name 'Path' -Type ExpandString -Value ($Entries -join ';')
  # To remove a variable that is not there tells programs that the environment has changed.
  [Environment]::SetEnvironmentVariable('MOLAR_INSTALLED', $null, 'User')
}

if ($Uninstall) { Uninstall-Molar $Prefix } else { Install-Molar $Prefix }
