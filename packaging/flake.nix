# The release's programs for Nix, with their checksums: nix run . -- solve graph.json
{
  description = "gapwise: schedules for clusters and clouds, each with a bound and a gap, verified";
  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-unstable";
  outputs = { self, nixpkgs }:
    let
      version = "{{version}}";
      archives = {
        x86_64-linux = { url = "{{url "linux" "amd64"}}"; sha256 = "{{sha256 "linux" "amd64"}}"; };
        aarch64-linux = { url = "{{url "linux" "arm64"}}"; sha256 = "{{sha256 "linux" "arm64"}}"; };
        x86_64-darwin = { url = "{{url "darwin" "amd64"}}"; sha256 = "{{sha256 "darwin" "amd64"}}"; };
        aarch64-darwin = { url = "{{url "darwin" "arm64"}}"; sha256 = "{{sha256 "darwin" "arm64"}}"; };
      };
      package = system: archive:
        let pkgs = nixpkgs.legacyPackages.${system};
        in pkgs.stdenvNoCC.mkDerivation {
          pname = "gapwise";
          inherit version;
          src = pkgs.fetchurl archive;
          nativeBuildInputs = [ pkgs.installShellFiles ];
          installPhase = ''
            runHook preInstall
            install -Dm755 gapwise $out/bin/gapwise
            installManPage man/gapwise.1
            installShellCompletion --cmd gapwise --bash completions/gapwise.bash --zsh completions/_gapwise \
              --fish completions/gapwise.fish
            mkdir -p $out/share/doc/gapwise
            cp -r LICENSE licences $out/share/doc/gapwise
            runHook postInstall
          '';
          meta = {
            homepage = "https://github.com/gapwise/gapwise";
            license = pkgs.lib.licenses.mit;
            mainProgram = "gapwise";
            platforms = builtins.attrNames archives;
          };
        };
    in {
      packages = builtins.mapAttrs (system: archive: { default = package system archive; }) archives;
    };
}
