# The formula for Homebrew, with the checksums of the release: brew install ./gapwise.rb
class Gapwise < Formula
  desc "Schedules for clusters and clouds, each with a bound and a gap, verified"
  homepage "https://github.com/gapwise/gapwise"
  version "{{version}}"
  license "MIT"

  on_macos do
    on_arm do
      url "{{url "darwin" "arm64"}}"
      sha256 "{{sha256 "darwin" "arm64"}}"
    end
    on_intel do
      url "{{url "darwin" "amd64"}}"
      sha256 "{{sha256 "darwin" "amd64"}}"
    end
  end
  on_linux do
    on_arm do
      url "{{url "linux" "arm64"}}"
      sha256 "{{sha256 "linux" "arm64"}}"
    end
    on_intel do
      url "{{url "linux" "amd64"}}"
      sha256 "{{sha256 "linux" "amd64"}}"
    end
  end

  def install
    bin.install "gapwise"
    man1.install "man/gapwise.1"
    bash_completion.install "completions/gapwise.bash" => "gapwise"
    zsh_completion.install "completions/_gapwise"
    fish_completion.install "completions/gapwise.fish"
    doc.install "README.md", "CHANGELOG.md", "licences"
  end

  test do
    system bin/"gapwise", "generate", "--seed", "1", "-o", "vms.json"
    assert_match "verified: 1 of 1", shell_output("#{bin}/gapwise solve vms.json")
  end
end
